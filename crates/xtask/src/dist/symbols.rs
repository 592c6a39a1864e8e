//! Reads the versions of glibc's symbols that a 64-bit little-endian ELF program needs (`.gnu.version_r`).

use anyhow::{Context, ensure};

/// The section type of `.gnu.version_r`.
const VERNEED: u32 = 0x6fff_fffe;

/// The newest version of glibc that any symbol names.
pub fn newest_glibc(elf: &[u8]) -> anyhow::Result<(u32, u32)> {
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "the program is not a 64-bit little-endian ELF file");
    let names = needed_versions(elf).context("the ELF file is damaged")?;
    let glibc = names.iter().filter_map(|name| version(name.strip_prefix("GLIBC_")?));
    glibc.max().context("the program names no version of glibc; is it linked statically?")
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

fn needed_versions(elf: &[u8]) -> Option<Vec<String>> {
    let table = number(elf, 0x28, 8)?;
    let (size, count) = (number(elf, 0x3a, 2)?, number(elf, 0x3c, 2)?);
    // Offset of a section's contents, and of the strings that it refers to.
    let section = |index: usize| number(elf, table + index * size + 0x18, 8);
    let mut names = Vec::new();
    for index in 0..count {
        let header = table + index * size;
        if number(elf, header + 4, 4)? != VERNEED as usize {
            continue;
        }
        let strings = section(number(elf, header + 0x28, 4)?)?;
        let mut library = section(index)?;
        for _ in 0..number(elf, header + 0x2c, 4)? {
            let mut entry = library + number(elf, library + 8, 4)?;
            for _ in 0..number(elf, library + 2, 2)? {
                let name = elf.get(strings + number(elf, entry + 8, 4)?..)?;
                let end = name.iter().position(|byte| *byte == 0)?;
                names.push(String::from_utf8_lossy(&name[..end]).into_owned());
                entry += number(elf, entry + 12, 4)?;
            }
            library += number(elf, library + 12, 4)?;
        }
    }
    Some(names)
}

fn number(elf: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let slice = elf.get(at..at.checked_add(bytes)?)?;
    slice.iter().rev().try_fold(0_usize, |number, byte| number.checked_mul(256)?.checked_add(usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_versions_of_a_real_program_are_read() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let newest = newest_glibc(&program).unwrap();
        assert!(((2, 2)..(3, 0)).contains(&newest), "{newest:?}");
        assert!(needed_versions(&program).unwrap().len() > 5);
    }

    #[test]
    fn other_files_are_rejected() {
        assert!(newest_glibc(b"#!/bin/sh").is_err());
        assert!(newest_glibc(b"\x7fELF\x02\x01").is_err());
        assert_eq!(version("2.28"), Some((2, 28)));
        assert_eq!(version("2.2.5"), Some((2, 2)));
        assert_eq!(version("PRIVATE"), None);
    }
}
