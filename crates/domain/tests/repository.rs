//! Our own files contain nothing that looks like a secret.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::path::{Path, PathBuf};

use butler_domain::secrets::Redactor;

/// How a replaced secret begins.
const MARK: &str = "[redacted:";

#[test]
fn no_text_file_of_this_repository_contains_a_secret() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let redactor = Redactor::standard();
    let (mut files, mut wrong) = (0, Vec::new());
    for folder in ["crates", "docs", "web/src"] {
        for path in text_files(&root.join(folder)) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            files += 1;
            for line in redactor.redact(&text).text.lines().filter(|line| line.contains(MARK)) {
                // The tests of this module write marks.
                if !text.contains(line) {
                    wrong.push(format!("{}: {}", path.display(), &line[..line.floor_char_boundary(300)]));
                }
            }
        }
    }
    assert!(files > 300, "only {files} files were read");
    assert!(wrong.is_empty(), "{} hits:\n{}", wrong.len(), wrong.join("\n"));
}

/// The files below a folder, without the private keys of the TLS tests. The caller skips those that are not UTF-8.
fn text_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && name != "target" && name != "node_modules" => files.extend(text_files(&path)),
            kind if kind.is_file() && path.extension().is_none_or(|extension| extension != "pem") => files.push(path),
            _ => {}
        }
    }
    files
}
