use butler_domain::MemoryType;
use serde_json::json;

use super::input::{memory_id, one_of};
use super::{Output, Request, show};

/// Print a memory in full
///
/// Also prints expired, superseded and forgotten memories. Getting a memory counts as a reference to it.
#[derive(Debug, clap::Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Examples:\n  \
    butler get 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler get episode 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --json"
)]
pub struct Args {
    /// Type of the memory [default: found by the id]
    #[arg(value_name = "TYPE", value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    memory_type: Option<MemoryType>,
    /// Id of the memory, as printed by `search` and `remember`, or its end, as a context line shows it
    #[arg(value_name = "ID", value_parser = memory_id)]
    memory_id: String,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Request {
        let arguments = json!({"memory_type": self.memory_type, "memory_id": self.memory_id});
        Request::new("memory_get", arguments, self.output, show::print_fields).among(MemoryType::ALL)
    }
}
