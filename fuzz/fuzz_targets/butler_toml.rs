//! Whatever stands in a butler.toml: no panic; it is understood, or the error says where and why not.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let file = Path::new("butler.toml");
    match butler::config::parse(file, source) {
        Ok(parsed) => {
            // what was understood once is understood again
            assert_eq!(butler::config::parse(file, source).map(|again| again.set).ok(), Some(parsed.set));
        }
        Err(error) => assert!(error.to_string().contains("butler.toml"), "{error}"),
    }
});
