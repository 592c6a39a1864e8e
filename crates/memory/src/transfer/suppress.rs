//! Leaves out of an import what was forgotten or erased here.

use std::collections::{HashMap, HashSet};

use butler_domain::{TenantId, statements};
use butler_store::Session;
use butler_store::transfer::{Kind, trust};
use serde_json::Value;

use super::record::Record;
use super::{ImportOptions, ImportReport, TransferError};
use crate::Memory;
use crate::suppressed::Cause;

/// What an import has left out so far.
#[derive(Debug)]
pub(super) struct Suppression {
    /// Whether anything was erased here. Otherwise events, links and proposals need not be looked at.
    has_erased: bool,
    /// The ids of the facts and rules whose statement was erased. Their events and links stay out, too.
    erased: HashSet<String>,
}

impl Suppression {
    pub async fn new(tx: &mut Session, tenant: &TenantId) -> Result<Self, TransferError> {
        Ok(Self { has_erased: trust::has_erased(tx, tenant).await?, erased: HashSet::new() })
    }

    /// Removes the records that would bring back what was forgotten or erased here, and counts them.
    pub async fn leave_out(
        &mut self,
        memory: &Memory,
        tx: &mut Session,
        kind: Kind,
        records: &mut Vec<Record>,
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<(), TransferError> {
        match kind {
            Kind::Fact | Kind::Rule => {}
            Kind::Event | Kind::Link | Kind::Proposal if self.has_erased => {}
            _ => return Ok(()),
        }
        let rows: Vec<Value> = records.iter().map(|record| Value::Object(record.row.clone())).collect();
        let (tenant, now) = (&options.tenant, memory.now());
        let candidates = trust::forgotten(tx, kind, tenant, &rows, statements::PARAPHRASE, now).await?;
        let text = |at: usize, field: &str| rows.get(at).and_then(|row| row[field].as_str()).unwrap_or_default();
        let mut causes: HashMap<usize, Cause> = HashMap::new();
        for (at, forgotten) in &candidates {
            if forgotten.is_repeated_by(text(*at, "subject"), text(*at, "content")) {
                causes.entry(*at).or_insert_with(|| forgotten.into());
            }
        }
        let about: &[&str] = match kind {
            Kind::Event => &["memory_id"],
            Kind::Link => &["source_id", "target_id"],
            _ => &[],
        };
        for at in 0..rows.len() {
            if about.iter().any(|field| self.erased.contains(text(at, field))) {
                causes.insert(at, Cause::Erased);
            }
        }
        let tally = report.tally(kind.as_str());
        for (at, cause) in &causes {
            tally.suppress(*cause);
            if *cause == Cause::Erased && matches!(kind, Kind::Fact | Kind::Rule) {
                self.erased.insert(text(*at, "id").to_owned());
            }
        }
        let mut position = 0..;
        records.retain(|_| position.next().is_none_or(|at| !causes.contains_key(&at)));
        Ok(())
    }
}
