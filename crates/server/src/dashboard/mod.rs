//! The dashboard's built files, embedded, and how a browser gets them.
//!
//! Names under `/assets/` carry a hash of their content and are kept for ever; everything else is asked for again with
//! its `ETag`. The sources are in `web/`; `cargo xtask web` builds and checks them.

mod answer;
mod encoding;
mod files;

pub use answer::page;
