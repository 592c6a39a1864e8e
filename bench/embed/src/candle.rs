//! The same model with candle's BERT, mean pooling and normalisation, as in candle's own example for this model.

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::Failure;

pub struct Candle(BertModel);

impl Candle {
    pub fn load(dir: &Path) -> Result<Candle, Failure> {
        let config: Config = serde_json::from_slice(&std::fs::read(dir.join("config.json"))?)?;
        let weights = std::fs::read(dir.join("model.safetensors"))?;
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        Ok(Candle(BertModel::load(weights, &config)?))
    }

    /// All sequences must have the same length, so that padding does not slow candle down.
    pub fn forward(&self, sequences: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, Failure> {
        let rows =
            sequences.iter().map(|ids| Tensor::new(ids.as_slice(), &Device::Cpu)).collect::<Result<Vec<_>, _>>()?;
        let ids = Tensor::stack(&rows, 0)?;
        let hidden = self.0.forward(&ids, &ids.zeros_like()?, None)?;
        let tokens = hidden.dim(1)?;
        let mean = (hidden.sum(1)? / tokens as f64)?;
        let unit = mean.broadcast_div(&mean.sqr()?.sum_keepdim(1)?.sqrt()?)?;
        Ok(unit.to_vec2::<f32>()?)
    }
}
