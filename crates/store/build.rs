//! Lists the SQL files, so that a new one needs no other change: `SCHEMA`, `FUNCTIONS` and `MIGRATIONS`, each an array of
//! (name, text) in the order of the names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut listed = String::new();
    for folder in ["schema", "functions", "migrations"] {
        println!("cargo::rerun-if-changed={folder}");
        let files = sql_files(&home.join(folder))?;
        let name = folder.to_uppercase();
        let _ = writeln!(listed, "pub(crate) const {name}: [(&str, &str); {}] = [", files.len());
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let _ = writeln!(listed, "    ({stem:?}, include_str!({:?})),", file.display().to_string());
        }
        listed.push_str("];\n");
    }
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("sql_files.rs"), listed)
}

fn sql_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}
