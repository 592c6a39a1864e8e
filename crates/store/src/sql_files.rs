//! The texts of `schema/`, `functions/` and `migrations/`, as `build.rs` lists them.

include!(concat!(env!("OUT_DIR"), "/sql_files.rs"));
