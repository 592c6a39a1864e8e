//! Ordinary text stays: our own files and the conversations of LoCoMo contain nothing that looks like a secret.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::path::{Path, PathBuf};

use butler_domain::secrets::Redactor;
use serde_json::Value;

/// How a replaced secret begins.
const MARK: &str = "[redacted:";

#[test]
fn no_text_file_of_this_repository_contains_a_secret() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let redactor = Redactor::standard();
    let (mut files, mut wrong) = (0, Vec::new());
    for path in text_files(&root) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        files += 1;
        for line in redactor.redact(&text).text.lines().filter(|line| line.contains(MARK)) {
            // The tests of this module write marks.
            if !text.contains(line) {
                wrong.push(format!("{}: {}", path.display(), &line[..line.floor_char_boundary(300)]));
            }
        }
    }
    assert!(files > 300, "only {files} files were read");
    assert!(wrong.is_empty(), "{} hits:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "needs the file of LoCoMo: LOCOMO=FILE"]
fn locomo_contains_one_secret() {
    let file = std::env::var_os("LOCOMO").unwrap();
    let mut value: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let found = Redactor::standard().redact_json(&mut value);
    let text = value.to_string();
    println!("{} bytes, {found} hits", text.len());
    // The address of one image contains a real web token.
    assert_eq!((found, text.matches("?token=[redacted: jwt]").count()), (1, 1));
}

/// The files below a folder, without the private keys of the TLS tests. The caller skips those that are not UTF-8.
fn text_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_ours = ![".git", "target", "node_modules"].iter().any(|other| name == *other);
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && is_ours => files.extend(text_files(&path)),
            kind if kind.is_file() && path.extension().is_none_or(|extension| extension != "pem") => files.push(path),
            _ => {}
        }
    }
    files
}
