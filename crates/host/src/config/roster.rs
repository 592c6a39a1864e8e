//! Loads the butlers' configuration from one file, from a roster (a directory with one subdirectory per butler), or
//! from the defaults.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::diagnostic::ConfigError;
use super::file::File;
use super::parse::{Parsed, parse};

/// The name of the butler if nothing is configured.
pub const DEFAULT_NAME: &str = "general";
const FILE_NAME: &str = "butler.toml";

/// Where the butlers' configuration comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    #[default]
    Defaults,
    File(PathBuf),
    Roster(PathBuf),
}

impl Source {
    /// Makes the paths independent of the working directory.
    #[must_use]
    pub fn absolute(self) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        match self {
            Self::Defaults => Self::Defaults,
            Self::File(path) => Self::File(absolute(path)),
            Self::Roster(path) => Self::Roster(absolute(path)),
        }
    }
}

/// One butler's configuration and its source.
#[derive(Debug, Clone)]
pub struct ButlerConfig {
    pub name: String,
    pub file: File,
    pub path: Option<PathBuf>,
    /// The dotted keys that the file sets; all others have their defaults.
    pub set: BTreeSet<String>,
}

/// Requires a name that is valid in a URL path and as the name of a database.
pub fn check_name(name: &str) -> Result<(), String> {
    const RESERVED: [&str; 3] = ["postgres", "template0", "template1"];
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 63 || !name.chars().all(fits) || name.starts_with(['-', '_']) {
        return Err(format!(
            "is {name:?}; it must have 1 to 63 characters of a-z, 0-9, - and _, and begin with a letter or digit"
        ));
    }
    if RESERVED.contains(&name) {
        return Err(format!("is {name:?}, which is the name of a PostgreSQL system database"));
    }
    Ok(())
}

/// Loads all butlers of the source: at least one, with unique names.
pub fn load_all(source: &Source) -> Result<Vec<ButlerConfig>, ConfigError> {
    match source {
        Source::Defaults => Ok(vec![ButlerConfig {
            name: DEFAULT_NAME.to_owned(),
            file: File::default(),
            path: None,
            set: BTreeSet::new(),
        }]),
        Source::File(path) => Ok(vec![load(path, DEFAULT_NAME)?]),
        Source::Roster(dir) => roster(dir),
    }
}

pub fn load(path: &Path, default_name: &str) -> Result<ButlerConfig, ConfigError> {
    let source = fs::read_to_string(path).map_err(|error| {
        let hint = (error.kind() == std::io::ErrorKind::NotFound)
            .then(|| "pass an existing file with --config, or leave it out to use the defaults".to_owned());
        ConfigError::whole_file(path, format!("cannot read the configuration: {error}"), hint)
    })?;
    let Parsed { file, set } = parse(path, &source)?;
    let name = file.butler.name.clone().unwrap_or_else(|| default_name.to_owned());
    Ok(ButlerConfig { name, file, path: Some(path.to_path_buf()), set })
}

fn roster(dir: &Path) -> Result<Vec<ButlerConfig>, ConfigError> {
    let unreadable = |error: std::io::Error| {
        let hint = "--roster takes a directory with one subdirectory per butler, each with a butler.toml".to_owned();
        ConfigError::whole_file(dir, format!("cannot read the roster: {error}"), Some(hint))
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path().join(FILE_NAME);
        if file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    let mut butlers: Vec<ButlerConfig> = Vec::new();
    for path in files {
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let butler = load(&path, &folder.unwrap_or_default())?;
        if let Err(problem) = check_name(&butler.name) {
            let hint = Some("rename the directory, or set `name` in [butler]".to_owned());
            return Err(ConfigError::whole_file(&path, format!("butler.name {problem}"), hint));
        }
        if let Some(other) = butlers.iter().find(|other| other.name == butler.name) {
            let there = other.path.as_deref().unwrap_or(dir).display();
            let message = format!("there are two butlers called {:?}; the other is in {there}", butler.name);
            return Err(ConfigError::whole_file(&path, message, Some("change the `name` of one of them".to_owned())));
        }
        butlers.push(butler);
    }
    if butlers.is_empty() {
        let hint = format!("put a {FILE_NAME} into a subdirectory, for example {}/health/{FILE_NAME}", dir.display());
        return Err(ConfigError::whole_file(dir, "the roster contains no butler", Some(hint)));
    }
    Ok(butlers)
}
