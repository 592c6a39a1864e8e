//! What returns after it was forgotten: a memory forgets half of its facts, and then consolidation learns all of them again in
//! other words.

use std::collections::BTreeSet;

use butler_domain::{FactId, MemoryType, Source, TenantId};
use butler_memory::{Call, Memory, MemoryError};

use super::pairs::{SUBJECT, Statement, statements};
use super::recorded::{fact, holding};
use crate::figures::Report;

pub async fn run(report: &mut Report, memory: &Memory) -> anyhow::Result<()> {
    let tenant = TenantId::new("replay")?;
    // Consolidation stores what it learns from sessions, and heeds what was forgotten.
    let call = || Call { source: Source::Session, ..Call::internal(memory, tenant.clone(), "bench") };
    let said = statements();
    let mut registered: BTreeSet<&str> = BTreeSet::new();
    let mut ids: Vec<FactId> = Vec::new();
    for Statement { predicate, ways, .. } in &said {
        if registered.insert(*predicate) {
            memory.set_predicate(&call(), holding(predicate, true), false).await?;
        }
        ids.push(memory.store_fact(&call(), fact(SUBJECT, predicate, &ways[0])).await?.id);
    }
    for (_, id) in ids.iter().enumerate().filter(|(place, _)| is_forgotten(*place)) {
        memory.forget(&call(), MemoryType::Fact, id.0).await?;
    }
    let (mut forgotten, mut returned, mut others, mut suppressed) = (0.0, 0.0, 0.0, 0.0);
    for (place, Statement { predicate, ways, denials }) in said.iter().enumerate() {
        let paraphrases = ways.iter().skip(1).map(|way| (way, is_forgotten(place)));
        // A denial is another statement, even of what was forgotten.
        for (content, repeats_forgotten) in paraphrases.chain(denials.iter().map(|denial| (denial, false))) {
            let is_stored = match memory.store_fact(&call(), fact(SUBJECT, predicate, content)).await {
                Ok(_) => true,
                Err(MemoryError::InvalidState { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            let (offered, wrong) =
                if repeats_forgotten { (&mut forgotten, &mut returned) } else { (&mut others, &mut suppressed) };
            *offered += 1.0;
            *wrong += f64::from(u8::from(is_stored == repeats_forgotten));
        }
    }
    memory.await_conflict_search(&tenant).await;
    report.note("replay: paraphrases of forgotten facts", forgotten, "");
    report.note("replay: of these, stored again", returned, "");
    report.note("replay: paraphrases of other facts, and denials", others, "");
    report.note("replay: of these, suppressed", suppressed, "");
    Ok(())
}

/// Every second value of each topic.
const fn is_forgotten(place: usize) -> bool {
    place.is_multiple_of(2)
}
