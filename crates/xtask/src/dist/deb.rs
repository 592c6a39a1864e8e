//! The Debian package: the program, its manual pages, completions and the systemd unit.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::archive::Stage;
use super::platform::Platform;
use super::{SUMMARY, VERSION, documents, repository};
use crate::run::{root, target_dir};

/// Debian requires an address, and the project has none.
const MAINTAINER: &str = "Butler Memory contributors <noreply@butler-memory.invalid>";

pub fn build(platform: &Platform, program: &Path, packages: &Path) -> anyhow::Result<()> {
    let arch = platform.deb_arch.context("there are no Debian packages for this platform")?;
    let data = Stage::new("deb-data")?;
    data.program(program, "usr/bin/butler")?;
    for (file, text) in documents(program)? {
        data.write(&place(&file), text)?;
    }
    let unit = fs::read_to_string(root().join("packaging/butler.service"))?;
    data.write("usr/lib/systemd/system/butler.service", unit.replace("/usr/local/bin/", "/usr/bin/"))?;
    let copyright = format!(
        "License: MIT OR Apache-2.0\n\n{}\n{}",
        fs::read_to_string(root().join("LICENSE-MIT"))?,
        fs::read_to_string(root().join("LICENSE-APACHE"))?
    );
    data.write("usr/share/doc/butler-memory/copyright", copyright)?;

    let control = Stage::new("deb-control")?;
    let homepage = repository().map(|url| format!("Homepage: {url}\n")).unwrap_or_default();
    let size = fs::metadata(program)?.len().div_ceil(1024);
    control.write(
        "control",
        format!(
            "Package: butler-memory\nVersion: {VERSION}\nArchitecture: {arch}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {size}\nDepends: libc6 (>= 2.28)\nRecommends: python3-pip\nSection: database\n\
             Priority: optional\n{homepage}Description: {SUMMARY}\n \
             The first start fetches PostgreSQL and the embedding model with pip or uv.\n"
        ),
    )?;
    // The service is not started by the installation: it may need a configuration first.
    control.script("postinst", "#!/bin/sh\nset -e\n[ ! -d /run/systemd/system ] || systemctl daemon-reload\n")?;
    control.script(
        "prerm",
        "#!/bin/sh\nset -e\n[ ! -d /run/systemd/system ] || [ \"$1\" != remove ] || systemctl disable --now butler\n",
    )?;

    let work = target_dir().join("dist-stage");
    let (data_tar, control_tar) = (work.join("data.tar.gz"), work.join("control.tar.gz"));
    data.tar(&data_tar)?;
    control.tar(&control_tar)?;
    let mut deb = b"!<arch>\n".to_vec();
    member(&mut deb, "debian-binary", b"2.0\n");
    member(&mut deb, "control.tar.gz", &fs::read(control_tar)?);
    member(&mut deb, "data.tar.gz", &fs::read(data_tar)?);
    fs::write(packages.join(format!("butler-memory_{VERSION}_{arch}.deb")), deb).context("cannot write the package")
}

/// Where Debian expects a document.
fn place(file: &str) -> String {
    match file {
        "completions/butler.bash" => "usr/share/bash-completion/completions/butler".to_owned(),
        "completions/_butler" => "usr/share/zsh/vendor-completions/_butler".to_owned(),
        "completions/butler.fish" => "usr/share/fish/vendor_completions.d/butler.fish".to_owned(),
        page => format!("usr/share/man/man1/{}", page.trim_start_matches("man/")),
    }
}

/// Adds a file to an `ar` archive. Files start at even offsets.
fn member(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    let (time, owner, group, mode) = (0, 0, 0, 100_644);
    archive.extend(format!("{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{:<10}`\n", content.len()).bytes());
    archive.extend(content);
    if content.len() % 2 == 1 {
        archive.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_has_a_header_of_sixty_bytes_and_an_even_length() {
        let mut archive = Vec::new();
        member(&mut archive, "debian-binary", b"odd");
        assert_eq!(archive.len(), 64);
        assert_eq!(&archive[58..], b"`\nodd\n");
    }
}
