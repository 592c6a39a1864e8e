//! Finds packages that pip or uv installed into the same Python environment as this program, and verifies their files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// The files of a package, pinned by one hash over the names and hashes of all of them.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    /// Names the record of a successful verification in the cache.
    pub name: &'static str,
    /// The package's directories below site-packages. One that does not exist has no files.
    pub dirs: &'static [&'static str],
    pub sha256: &'static str,
}

/// The site-packages directories of the Python environment that contains this program; empty if it is in none.
pub fn site_packages() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(fs::canonicalize);
    program.ok().as_deref().and_then(Path::parent).map(site_packages_of).unwrap_or_default()
}

/// The site-packages directories that belong to a directory of scripts.
pub fn site_packages_of(scripts: &Path) -> Vec<PathBuf> {
    let Some(root) = scripts.parent() else { return Vec::new() };
    let mut found = Vec::new();
    for lib in ["lib", "lib64"] {
        let versions = fs::read_dir(root.join(lib)).into_iter().flatten().flatten();
        for version in versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3")) {
            // Debian's own Python calls the directory dist-packages.
            found.extend(["site-packages", "dist-packages"].map(|name| version.path().join(name)));
        }
    }
    found.retain(|dir| dir.is_dir());
    found
}

impl Tree {
    /// Whether the files in this site-packages directory are the pinned ones. A success is recorded in the cache, so that
    /// the next start compares sizes and times only.
    pub fn is_verified(&self, site_packages: &Path, cache: &Path) -> bool {
        let mut files = Vec::new();
        for dir in self.dirs {
            if collect(&site_packages.join(dir), dir, &mut files).is_err() {
                return false;
            }
        }
        files.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
        let identity = format!("{} {} {}", self.sha256, stamp(&files), site_packages.display());
        let record = cache.join(format!("verified-{}", self.name));
        if fs::read_to_string(&record).is_ok_and(|verified| verified == identity) {
            return true;
        }
        match digest(&files) {
            Ok(found) if found == self.sha256 => {}
            Ok(found) => {
                tracing::warn!(dir = %site_packages.display(), expected = self.sha256, %found, "the installed {} is not the one this program was built for; it is not used", self.name);
                return false;
            }
            Err(error) => {
                tracing::warn!(dir = %site_packages.display(), %error, "the installed {} cannot be read", self.name);
                return false;
            }
        }
        if let Err(error) = fs::create_dir_all(cache).and_then(|()| fs::write(&record, identity)) {
            tracing::warn!(record = %record.display(), %error, "cannot record the verification; every start will repeat it");
        }
        true
    }
}

/// Adds all files below `dir` with their names. Python's own files and the extension that butler adds do not count.
fn collect(dir: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let name = format!("{name}/{file_name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &name, files)?;
        } else if ![".py", ".pyc", ".typed"].iter().any(|end| file_name.ends_with(end))
            && !file_name.starts_with("uuid-ossp")
        {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

/// A value that changes when a file is added, removed, replaced or changed.
fn stamp(files: &[(String, PathBuf)]) -> String {
    let (mut bytes, mut newest) = (0, 0);
    for (_, path) in files {
        let Ok(meta) = path.metadata() else { continue };
        bytes += meta.len();
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        newest = newest.max(modified.map_or(0, |time| time.as_nanos()));
    }
    format!("{} {bytes} {newest}", files.len())
}

fn digest(files: &[(String, PathBuf)]) -> io::Result<String> {
    let mut all = Sha256::new();
    for (name, path) in files {
        all.update(name.as_bytes());
        all.update([0]);
        all.update(sha256(path)?.as_bytes());
        all.update(b"\n");
    }
    Ok(hex(&all.finalize()))
}

/// The sha256 of a file in hexadecimal.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash over `pkg/a` with the content "a" and `pkg.libs/b` with the content "b".
    fn tree() -> Tree {
        let lines: String = [("pkg.libs/b", "b"), ("pkg/a", "a")]
            .map(|(name, text)| format!("{name}\0{}\n", hex(&Sha256::digest(text))))
            .concat();
        let sha256 = Box::leak(hex(&Sha256::digest(lines)).into_boxed_str());
        Tree { name: "pkg", dirs: &["pkg", "pkg.libs"], sha256 }
    }

    #[test]
    fn an_installed_package_is_found_beside_the_program_and_verified() {
        let env = tempfile::tempdir().unwrap();
        let site = env.path().join("lib/python3.12/site-packages");
        for (file, text) in [("pkg/a", "a"), ("pkg.libs/b", "b"), ("pkg/__pycache__/x.pyc", "python"), ("pkg/x.py", "")]
        {
            fs::create_dir_all(site.join(file).parent().unwrap()).unwrap();
            fs::write(site.join(file), text).unwrap();
        }
        assert_eq!(site_packages_of(&env.path().join("bin")), std::slice::from_ref(&site));
        let cache = env.path().join("cache");
        assert!(tree().is_verified(&site, &cache));
        assert!(cache.join("verified-pkg").is_file());
        assert!(tree().is_verified(&site, &cache), "from the record");

        fs::write(site.join("pkg/a"), "A").unwrap();
        assert!(!tree().is_verified(&site, &cache), "a changed file");
        fs::write(site.join("pkg/a"), "a").unwrap();
        fs::write(site.join("pkg/more"), "").unwrap();
        assert!(!tree().is_verified(&site, &cache), "an additional file");
        assert!(site_packages_of(Path::new("/nowhere/bin")).is_empty());
    }
}
