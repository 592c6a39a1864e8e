//! Tests with the real model.

mod common;
mod engine;
mod minilm;
