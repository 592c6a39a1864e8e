//! see ARCHITECTURE.md
mod error;
pub mod minilm;
mod locate { pub const WEIGHTS: &str = "model.safetensors"; }
pub use error::EmbedError;
pub const DIMENSIONS: usize = 384;
pub type Vector = std::sync::Arc<[f32]>;
