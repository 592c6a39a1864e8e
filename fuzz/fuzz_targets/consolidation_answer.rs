//! Any text as the answer of a model: no panic, and only actions that may be executed.
#![no_main]

use butler_domain::consolidation::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: &str| {
    let result = parse(answer);
    assert!(result.action_count() <= 1000);
    assert!(result.parse_errors.len() <= 101);
    assert!(result.answered || result.action_count() == 0, "actions without an answer");
    for fact in &result.new_facts {
        assert!(fact.importance.is_none_or(|importance| (1.0..=10.0).contains(&importance)));
        assert!(!fact.subject.trim().is_empty() && !fact.predicate.trim().is_empty() && !fact.content.trim().is_empty());
    }
    for fact in &result.updated_facts {
        assert!(fact.importance.is_none_or(|importance| (1.0..=10.0).contains(&importance)));
        assert!(!fact.content.trim().is_empty());
    }
    for rule in &result.new_rules {
        assert!(!rule.content.trim().is_empty());
    }
    // parsing is deterministic
    assert_eq!(parse(answer), result);
});
