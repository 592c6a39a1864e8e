//! The model of the torture test: answers a prompt on stdin, sometimes slowly, sometimes with prose instead of JSON.

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

/// Copies every secret of the prompt into what it learns, so that a prompt with data of two tenants shows in one memory.
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
    fn secrets_of_the_prompt_are_in_the_answer() {
        let learned = answer("hushamber7 then hushquartz0", 1);
        assert!(learned.contains("hushamber7 hushquartz0 learned 1"), "{learned}");
        assert!(!answer("hushamber7", 18).contains('{'), "sometimes it answers with prose");
    }
}
