//! Finds packages that pip or uv installed into the same Python environment as this program, and verifies their files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
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
    /// Files that this program adds, as names below site-packages with their contents. They are left out of the hash, but
    /// only with exactly this content.
    pub added: &'static [(&'static str, &'static str)],
    pub sha256: &'static str,
}

/// The site-packages directories of the Python environment that contains this program; empty if it is in none.
pub fn site_packages() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(fs::canonicalize);
    program.ok().as_deref().and_then(Path::parent).map(site_packages_of).unwrap_or_default()
}

/// The site-packages directories that belong to a directory of scripts, which is called `bin`.
pub fn site_packages_of(scripts: &Path) -> Vec<PathBuf> {
    if !scripts.ends_with("bin") {
        return Vec::new();
    }
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
    /// Whether the files in this site-packages directory are the pinned ones and no other user can change them. A success is
    /// recorded in the cache, so that the next start compares owners, permissions, sizes and times only.
    pub fn is_verified(&self, site_packages: &Path, cache: &Path) -> bool {
        let (stamp, files) = match self.files(site_packages).and_then(|files| Ok((stamp(&files)?, files))) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(dir = %site_packages.display(), %error, "the installed {} is not used", self.name);
                return false;
            }
        };
        let identity = format!("{} {stamp} {}", self.sha256, site_packages.display());
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

    /// The files that count, in the order of their names. Fails if another user can change one of them.
    fn files(&self, site_packages: &Path) -> io::Result<Vec<(String, PathBuf)>> {
        // The directory is lib/python3.x/site-packages below the root of the environment.
        let root = site_packages.ancestors().nth(3).unwrap_or(site_packages).canonicalize()?;
        let site_packages = site_packages.canonicalize()?;
        if !site_packages.starts_with(&root) {
            let message = format!("{} is outside of the environment {}", site_packages.display(), root.display());
            return Err(io::Error::other(message));
        }
        for dir in site_packages.ancestors().take_while(|dir| dir.starts_with(&root)) {
            require_protected(dir)?;
        }
        let mut files = Vec::new();
        for dir in self.dirs {
            self.collect(&site_packages.join(dir), dir, &mut files)?;
        }
        files.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
        Ok(files)
    }

    /// Adds all files below `dir` with their names. Python's own files and the files that this program adds do not count.
    fn collect(&self, dir: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        require_protected(dir)?;
        for entry in entries {
            let entry = entry?;
            let (file_name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let name = format!("{name}/{file_name}");
            if entry.file_type()?.is_dir() {
                self.collect(&path, &name, files)?;
            } else if ![".py", ".pyc", ".typed"].iter().any(|end| file_name.ends_with(end)) {
                require_protected(&path)?;
                if !self.is_added(&name, &path)? {
                    files.push((name, path));
                }
            }
        }
        Ok(())
    }

    fn is_added(&self, name: &str, path: &Path) -> io::Result<bool> {
        match self.added.iter().find(|(added, _)| *added == name) {
            Some((_, content)) => Ok(fs::read(path)? == content.as_bytes()),
            None => Ok(false),
        }
    }
}

/// Fails if a user other than root and the current one can change the file or directory. A symbolic link fails as well,
/// because its target may lie anywhere.
fn require_protected(path: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    let why = if meta.is_symlink() {
        "is a symbolic link"
    } else if meta.uid() != 0 && meta.uid() != rustix::process::geteuid().as_raw() {
        "belongs to another user"
    } else if meta.mode() & 0o022 != 0 {
        "is writable by its group or by all users"
    } else {
        return Ok(());
    };
    Err(io::Error::other(format!("{} {why}", path.display())))
}

/// A hash that changes when a file is added, removed, replaced or changed.
fn stamp(files: &[(String, PathBuf)]) -> io::Result<String> {
    let mut all = Sha256::new();
    for (name, path) in files {
        let meta = path.metadata()?;
        let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        all.update(format!("{name}\0{} {modified}\n", meta.len()).as_bytes());
    }
    Ok(hex(&all.finalize()))
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The hash over `pkg/a` with the content "a" and `pkg.libs/b` with the content "b".
    fn tree() -> Tree {
        let lines: String = [("pkg.libs/b", "b"), ("pkg/a", "a")]
            .map(|(name, text)| format!("{name}\0{}\n", hex(&Sha256::digest(text))))
            .concat();
        let sha256 = Box::leak(hex(&Sha256::digest(lines)).into_boxed_str());
        Tree { name: "pkg", dirs: &["pkg", "pkg.libs"], added: &[("pkg/ours.sql", "ours")], sha256 }
    }

    /// An environment with the files of [`tree`], and its site-packages directory.
    fn environment() -> (tempfile::TempDir, PathBuf) {
        let env = tempfile::tempdir().unwrap();
        let site = env.path().join("lib/python3.12/site-packages");
        for (file, text) in [("pkg/a", "a"), ("pkg.libs/b", "b"), ("pkg/__pycache__/x.pyc", "python"), ("pkg/x.py", "")]
        {
            fs::create_dir_all(site.join(file).parent().unwrap()).unwrap();
            fs::write(site.join(file), text).unwrap();
        }
        // The umask of the user who runs the tests may let the group write.
        let dirs = ["", "pkg", "pkg.libs", "pkg/__pycache__"].map(|dir| site.join(dir));
        for dir in dirs.iter().map(PathBuf::as_path).chain(site.ancestors().skip(1).take(2)) {
            set_mode(dir, 0o755);
        }
        for file in ["pkg/a", "pkg.libs/b"] {
            set_mode(&site.join(file), 0o644);
        }
        (env, site)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn an_installed_package_is_found_beside_the_program_and_verified() {
        let (env, site) = environment();
        assert_eq!(site_packages_of(&env.path().join("bin")), std::slice::from_ref(&site));
        assert!(site_packages_of(&env.path().join("release")).is_empty(), "not a directory of scripts");
        assert!(site_packages_of(Path::new("/nowhere/bin")).is_empty());
        let cache = env.path().join("cache");
        assert!(tree().is_verified(&site, &cache));
        assert!(cache.join("verified-pkg").is_file());
        assert!(tree().is_verified(&site, &cache), "from the record");

        fs::write(site.join("pkg/a"), "A").unwrap();
        assert!(!tree().is_verified(&site, &cache), "a changed file");
        fs::write(site.join("pkg/a"), "a").unwrap();
        fs::write(site.join("pkg/more"), "").unwrap();
        assert!(!tree().is_verified(&site, &cache), "an additional file");
    }

    #[test]
    fn a_package_that_others_can_change_is_not_used() {
        let (env, site) = environment();
        let cache = env.path().join("cache");
        let root = env.path().to_path_buf();
        let paths = [root.clone(), root.join("lib"), root.join("lib/python3.12"), site.clone()];
        for path in paths.into_iter().chain(["pkg", "pkg/a"].map(|name| site.join(name))) {
            let before = fs::metadata(&path).unwrap().mode() & 0o777;
            for writable in [0o020, 0o002] {
                set_mode(&path, before | writable);
                assert!(!tree().is_verified(&site, &cache), "{} with {writable:03o}", path.display());
            }
            set_mode(&path, before);
            assert!(tree().is_verified(&site, &cache), "{}", path.display());
        }
        fs::rename(site.join("pkg/a"), root.join("a")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), site.join("pkg/a")).unwrap();
        assert!(!tree().is_verified(&site, &cache), "a symbolic link");
    }

    #[test]
    fn an_added_file_is_left_out_only_with_the_content_that_is_written() {
        let (env, site) = environment();
        let cache = env.path().join("cache");
        let write = |name: &str, text: &str| {
            fs::write(site.join(name), text).unwrap();
            set_mode(&site.join(name), 0o644);
        };
        write("pkg/ours.sql", "ours");
        assert!(tree().is_verified(&site, &cache));
        write("pkg/ours.sql", "theirs");
        assert!(!tree().is_verified(&site, &cache), "another content");
        write("pkg/ours.sql", "ours");
        write("pkg/ours.sql.1", "ours");
        assert!(!tree().is_verified(&site, &cache), "another name");
    }

    #[test]
    fn a_record_is_void_when_a_file_changes_behind_a_newer_one() {
        let (env, site) = environment();
        let cache = env.path().join("cache");
        let time = |file: &str, seconds: u64| {
            let file = File::options().write(true).open(site.join(file)).unwrap();
            file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        time("pkg/a", 1000);
        time("pkg.libs/b", 2000);
        assert!(tree().is_verified(&site, &cache));
        // The number of files, their total size and the newest time stay the same.
        fs::write(site.join("pkg/a"), "A").unwrap();
        time("pkg/a", 1500);
        assert!(!tree().is_verified(&site, &cache));
    }
}
