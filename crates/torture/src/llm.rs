//! The model of the torture: it reads the prompt on stdin and learns something from it, sometimes slowly, sometimes not at all.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;

use crate::tenant::secrets_in;

pub fn run() -> anyhow::Result<()> {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let mut hasher = DefaultHasher::new();
    prompt.hash(&mut hasher);
    let chance = hasher.finish();
    std::thread::sleep(Duration::from_millis(chance % 400));
    std::io::stdout().write_all(answer(&prompt, chance).as_bytes())?;
    Ok(())
}

/// Everything it was shown goes into what it learns: were it shown two tenants, the checker would find both in one memory.
fn answer(prompt: &str, chance: u64) -> String {
    if chance.is_multiple_of(9) {
        return "I had rather not say.".to_owned();
    }
    let secrets = secrets_in(prompt).join(" ");
    let fact = |n: u64| {
        json!({
            "subject": format!("learned {}", n % 7), "predicate": "is", "content": format!("{secrets} learned {n}"),
            "importance": 5, "permanence": "standard", "tags": [],
        })
    };
    json!({
        "new_facts": [fact(chance), fact(chance / 7)],
        "updated_facts": [],
        "new_rules": [{ "content": format!("{secrets} rule learned {chance}"), "tags": [] }],
        "confirmations": [],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn what_it_was_shown_is_in_what_it_learns() {
        let learned = answer("hushamber7 then hushquartz0", 1);
        assert!(learned.contains("hushamber7 hushquartz0 learned 1"), "{learned}");
        assert!(!answer("hushamber7", 18).contains('{'), "now and then it fails");
    }
}
