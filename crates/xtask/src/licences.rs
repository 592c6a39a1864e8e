//! `cargo xtask licences`: every dependency has an allowed licence and comes from crates.io or this workspace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;

use crate::metadata::{Metadata, Package};
use crate::spdx::is_satisfied;

/// Permissive licences: at most, they ask for attribution.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "BSL-1.0",
    "Unlicense",
];

/// How Cargo names crates.io; a mirror or a vendored copy keeps this name.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub fn run() -> anyhow::Result<()> {
    eprintln!("\n── licences and sources");
    let metadata = Metadata::with_dependencies()?;
    let problems = problems(&metadata);
    if !problems.is_empty() {
        bail!(
            "licences and sources:\n  {}\nhint: replace the dependency, or add its licence to crates/xtask/src/licences.rs",
            problems.join("\n  ")
        );
    }
    let repeated = repeated(&metadata);
    eprintln!(
        "── licences and sources: {} packages, {} of them in several versions ({})",
        metadata.packages.len(),
        repeated.len(),
        repeated.join(", ")
    );
    Ok(())
}

fn problems(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let named = format!("{} {}", package.name, package.version);
        problems.extend(licence_problem(package).map(|problem| format!("{named}: {problem}")));
        problems.extend(source_problem(metadata, package).map(|problem| format!("{named}: {problem}")));
        for dependency in package.dependencies.iter().filter(|_| metadata.is_member(package)) {
            if dependency.req == "*" && dependency.path.is_none() {
                problems.push(format!("{named}: any version of {} will do; name one", dependency.name));
            }
        }
    }
    problems
}

fn licence_problem(package: &Package) -> Option<String> {
    let Some(expression) = &package.license else { return Some("no licence is declared".to_owned()) };
    match is_satisfied(expression, ALLOWED) {
        Ok(true) => None,
        Ok(false) => Some(format!("the licence `{expression}` is not allowed")),
        Err(error) => Some(format!("the licence `{expression}` cannot be read: {error}")),
    }
}

fn source_problem(metadata: &Metadata, package: &Package) -> Option<String> {
    match package.source.as_deref() {
        Some(CRATES_IO) => None,
        Some(source) => Some(format!("its source is {source}; only crates.io is allowed")),
        None if metadata.is_member(package) => None,
        None => Some(format!("it lies outside the workspace ({})", package.id)),
    }
}

/// Names of packages that are built in more than one version. Allowed, because dependencies of dependencies decide it.
fn repeated(metadata: &Metadata) -> Vec<&str> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions.into_iter().filter(|(_, versions)| versions.len() > 1).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn package(name: &str, version: &str, license: &Value, source: &Value) -> Value {
        let id = format!("{name}@{version}");
        json!({"id": id, "name": name, "version": version, "license": license, "source": source, "dependencies": []})
    }

    /// The metadata of a workspace with one member and the given other packages.
    fn metadata(others: &[Value]) -> Metadata {
        let mut packages = vec![package("own", "0.1.0", &json!("MIT OR Apache-2.0"), &Value::Null)];
        packages.extend_from_slice(others);
        let metadata = json!({"packages": packages, "workspace_members": ["own@0.1.0"]});
        Metadata::parse(metadata.to_string().as_bytes()).unwrap()
    }

    fn found(other: Value) -> Vec<String> {
        problems(&metadata(&[other]))
    }

    #[test]
    fn a_licence_that_is_not_allowed_or_not_declared_is_found() {
        let crates_io = json!(CRATES_IO);
        assert_eq!(found(package("fine", "1.0.0", &json!("MIT/Apache-2.0"), &crates_io)), Vec::<String>::new());
        assert_eq!(
            found(package("bad", "1.0.0", &json!("MIT AND AGPL-3.0-only"), &crates_io)),
            ["bad 1.0.0: the licence `MIT AND AGPL-3.0-only` is not allowed"]
        );
        assert_eq!(found(package("none", "1.0.0", &Value::Null, &crates_io)), ["none 1.0.0: no licence is declared"]);
        assert_eq!(found(package("odd", "1.0.0", &json!("MIT ("), &crates_io)).len(), 1);
    }

    #[test]
    fn a_source_that_is_neither_crates_io_nor_the_workspace_is_found() {
        let mit = json!("MIT");
        for source in [
            json!("git+https://example.com/some.git#0123456"),
            json!("registry+https://example.com/index"),
            Value::Null, // a path outside the workspace
        ] {
            assert_eq!(found(package("elsewhere", "1.0.0", &mit, &source)).len(), 1, "{source}");
        }
    }

    #[test]
    fn a_dependency_of_ours_without_a_version_is_found() {
        let mut workspace = metadata(&[]);
        let dependency = |path| {
            let json = json!({"name": "any", "req": "*", "kind": null, "path": path});
            serde_json::from_value(json).unwrap()
        };
        workspace.packages[0].dependencies = vec![dependency(Some("crates/any"))];
        assert_eq!(problems(&workspace), Vec::<String>::new());
        workspace.packages[0].dependencies = vec![dependency(None)];
        assert_eq!(problems(&workspace).len(), 1);
    }

    #[test]
    fn several_versions_of_a_package_are_reported_but_allowed() {
        let crates_io = json!(CRATES_IO);
        let versions = ["1.0.0", "2.0.0"].map(|version| package("twice", version, &json!("MIT"), &crates_io));
        let metadata = metadata(&versions);
        assert_eq!(problems(&metadata), Vec::<String>::new());
        assert_eq!(repeated(&metadata), ["twice"]);
    }
}
