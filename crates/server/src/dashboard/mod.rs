//! Serves the dashboard from files embedded in the program.
//!
//! File names under `/assets/` contain a hash of the content, so browsers cache them forever; everything else is
//! revalidated with its `ETag`. The sources are in `web/`; `cargo xtask web` builds and checks them.

mod answer;
mod encoding;
mod files;

pub use answer::page;
