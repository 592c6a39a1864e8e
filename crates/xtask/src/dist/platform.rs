//! What each kind of package calls a platform.

use anyhow::Context;

pub struct Platform {
    os: &'static str,
    arch: &'static str,
    pub target: &'static str,
    pub wheel_tag: &'static str,
    /// Node's `process.platform` and `process.arch`.
    pub npm: (&'static str, &'static str),
    /// Debian's name of the architecture; `None` where there are no Debian packages.
    pub deb_arch: Option<&'static str>,
}

/// The platforms for which there is a private PostgreSQL. Windows is not among them.
pub const PLATFORMS: [Platform; 4] = [
    Platform {
        os: "linux",
        arch: "x86_64",
        target: "x86_64-unknown-linux-gnu",
        wheel_tag: "manylinux_2_28_x86_64",
        npm: ("linux", "x64"),
        deb_arch: Some("amd64"),
    },
    Platform {
        os: "linux",
        arch: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        wheel_tag: "manylinux_2_28_aarch64",
        npm: ("linux", "arm64"),
        deb_arch: Some("arm64"),
    },
    Platform {
        os: "macos",
        arch: "aarch64",
        target: "aarch64-apple-darwin",
        wheel_tag: "macosx_11_0_arm64",
        npm: ("darwin", "arm64"),
        deb_arch: None,
    },
    Platform {
        os: "macos",
        arch: "x86_64",
        target: "x86_64-apple-darwin",
        wheel_tag: "macosx_11_0_x86_64",
        npm: ("darwin", "x64"),
        deb_arch: None,
    },
];

impl Platform {
    pub fn current() -> anyhow::Result<&'static Self> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let found = PLATFORMS.iter().find(|platform| platform.os == os && platform.arch == arch);
        found.with_context(|| format!("there are no packages for {os} on {arch}"))
    }

    pub fn is_linux(&self) -> bool {
        self.os == "linux"
    }
}
