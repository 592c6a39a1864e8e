//! The modules of this program.

pub mod memory;

use crate::config::ModulesSection;
use crate::module::Module;

/// The modules that a butler's configuration enables.
pub fn enabled(config: &ModulesSection) -> Vec<Box<dyn Module>> {
    let mut modules: Vec<Box<dyn Module>> = Vec::new();
    if config.memory.enabled {
        modules.push(Box::new(memory::MemoryModule::new(config.memory.clone())));
    }
    modules
}
