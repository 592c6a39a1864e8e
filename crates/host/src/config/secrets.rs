use butler_domain::secrets::Redactor;
use butler_memory::config::SecretsConfig;

use super::ButlerConfig;

/// Redacts what any of the butlers redacts. For text that comes in before its butler is known.
pub fn redactor(butlers: &[ButlerConfig]) -> Redactor {
    let all = SecretsConfig::of_all(butlers.iter().map(|butler| &butler.file.modules.memory.secrets));
    // Each configuration was validated when it was loaded.
    all.redactor().unwrap_or_else(|_| Redactor::standard())
}
