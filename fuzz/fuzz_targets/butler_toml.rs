//! Any text as butler.toml: a configuration, or an error that points to a place in the file.
#![no_main]

use std::path::Path;

use butler_host::config::{ButlerConfig, parse, show};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let path = Path::new("butler.toml");
    match parse(path, source) {
        Ok(parsed) => {
            let name = parsed.file.butler.name.clone().unwrap_or_else(|| "general".to_owned());
            let butler = ButlerConfig { name, file: parsed.file, path: Some(path.to_path_buf()), set: parsed.set };
            let settings = show::settings(&butler).expect("a configuration that was read can be shown");
            assert!(!settings.is_empty());
        }
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(!error.message.contains('\n'), "the message is one line: {error}");
            if let Some(at) = &error.location {
                assert!(at.line >= 1 && at.line <= source.lines().count().max(1), "{at:?}");
                assert!(at.column >= 1 && at.width >= 1, "{at:?}");
            }
            assert!(!error.to_string().is_empty());
        }
    }
});
