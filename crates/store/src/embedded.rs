//! Vectors on their way into a table, together with the model that made them.

use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Embedded {
    pub vector: Arc<[f32]>,
    /// Each row names the version that embedded it: vectors of two models are never compared.
    pub model: Model,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Model {
    pub name: Arc<str>,
    pub version: Arc<str>,
    pub dimensions: i32,
}
