//! Vectors to be stored, together with the model that made them.

use std::sync::Arc;

use serde::Serialize;

/// A vector and the model that produced it.
#[derive(Debug, Clone)]
pub struct Embedded {
    pub vector: Arc<[f32]>,
    /// Each row names the version that embedded it, because vectors of two models are never compared.
    pub model: Model,
}

/// A version of an embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Model {
    pub name: Arc<str>,
    pub version: Arc<str>,
    pub dimensions: i32,
}

/// The model as part of a row that an SQL function takes.
#[derive(Serialize)]
pub(crate) struct ModelRow<'a> {
    model: &'a str,
    model_version: &'a str,
    dimensions: i32,
}

impl Model {
    pub(crate) fn row(&self) -> ModelRow<'_> {
        ModelRow { model: &self.name, model_version: &self.version, dimensions: self.dimensions }
    }
}
