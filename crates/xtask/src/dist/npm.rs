//! The npm packages: `butler-memory` with a small launcher, and one package per platform with the program.

use std::path::Path;

use serde_json::json;

use super::archive::Stage;
use super::platform::{PLATFORMS, Platform};
use super::{LICENCES, SUMMARY, VERSION, repository};
use crate::run::root;

const LAUNCHER: &str = include_str!("launcher.js");

pub fn build(platform: &Platform, program: &Path, packages: &Path) -> anyhow::Result<()> {
    let stage = Stage::new("npm")?;
    let optional: serde_json::Map<_, _> = PLATFORMS.iter().map(|platform| (name(platform), json!(VERSION))).collect();
    stage.write(
        "package/package.json",
        manifest(json!({
            "name": "butler-memory",
            "version": VERSION,
            "description": SUMMARY,
            "license": "MIT OR Apache-2.0",
            "bin": {"butler": "bin/butler.js", "butler-memory": "bin/butler.js"},
            "engines": {"node": ">=18"},
            "optionalDependencies": optional,
        })),
    )?;
    stage.script("package/bin/butler.js", LAUNCHER)?;
    finish(&stage, &packages.join(format!("butler-memory-{VERSION}.tgz")))?;

    let stage = Stage::new("npm-platform")?;
    let name = name(platform);
    stage.write(
        "package/package.json",
        manifest(json!({
            "name": name,
            "version": VERSION,
            "description": format!("The program of butler-memory for {} on {}", platform.npm.0, platform.npm.1),
            "license": "MIT OR Apache-2.0",
            "os": [platform.npm.0],
            "cpu": [platform.npm.1],
        })),
    )?;
    stage.program(program, "package/bin/butler")?;
    finish(&stage, &packages.join(format!("{name}-{VERSION}.tgz")))
}

fn name(platform: &Platform) -> String {
    format!("butler-memory-{}-{}", platform.npm.0, platform.npm.1)
}

fn finish(stage: &Stage, out: &Path) -> anyhow::Result<()> {
    for licence in LICENCES {
        stage.write(&format!("package/{licence}"), std::fs::read(root().join(licence))?)?;
    }
    stage.tar(out)
}

/// The manifest as text, with the repository that npm compares with the provenance of the package.
fn manifest(mut value: serde_json::Value) -> String {
    if let Some(url) = repository() {
        value["repository"] = json!({"type": "git", "url": format!("git+{url}.git")});
    }
    format!("{value:#}\n")
}
