//! Redacts the secrets in an answer: a model may write out a secret that the episode spells in a form that redaction does
//! not recognise.

use butler_domain::consolidation::ConsolidationResult;
use butler_domain::secrets::Redactor;

/// Redacts the texts of all actions. Returns how many secrets were replaced.
pub(super) fn redact(result: &mut ConsolidationResult, redactor: &Redactor) -> usize {
    let mut found = 0;
    let mut texts: Vec<&mut String> = Vec::new();
    for fact in &mut result.new_facts {
        found += redactor.redact_named(&fact.predicate, &mut fact.content);
        texts.extend([&mut fact.subject, &mut fact.predicate]);
        texts.extend(fact.object.iter_mut().chain(fact.tags.iter_mut().flatten()));
    }
    for fact in &mut result.updated_facts {
        found += redactor.redact_named(&fact.predicate, &mut fact.content);
        texts.extend([&mut fact.subject, &mut fact.predicate]);
        texts.extend(fact.tags.iter_mut().flatten());
    }
    for rule in &mut result.new_rules {
        texts.push(&mut rule.content);
        texts.extend(&mut rule.tags);
    }
    for entity in &mut result.entities {
        texts.push(&mut entity.name);
        texts.extend(&mut entity.aliases);
    }
    found + texts.into_iter().map(|text| redactor.redact_text(text)).sum::<usize>()
}
