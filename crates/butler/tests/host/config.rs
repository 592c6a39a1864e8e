//! Errors for an invalid butler.toml, and the meaning of a valid one.

use std::path::Path;

use butler_host::config::{self, Source, parse};

/// Parses an invalid butler.toml and returns the error as it is printed.
fn rejected(source: &str) -> String {
    let error = parse(Path::new("butler.toml"), source).expect_err("this must be rejected");
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("error: {error}{hint}")
}

#[test]
fn an_unknown_key_is_shown_with_its_line_and_the_nearest_valid_key() {
    insta::assert_snapshot!(rejected("[butler]\nname = \"health\"\n\n[modules.memory.retrieval]\ndefualt_limit = 5\n"));
}

#[test]
fn an_unknown_section_is_shown_with_the_nearest_valid_one() {
    insta::assert_snapshot!(rejected("[modules.memroy.retrieval]\ndefault_limit = 5\n"));
}

#[test]
fn an_unknown_key_without_a_similar_one_is_shown_with_all_valid_keys() {
    insta::assert_snapshot!(rejected("[butler]\nzzz = 1\n"));
}

#[test]
fn an_unknown_key_in_an_inline_table_is_shown_with_its_position() {
    insta::assert_snapshot!(rejected("[modules.memory]\nretrieval = { score_weights = { relevence = 0.5 } }\n"));
}

#[test]
fn a_wrong_type_is_shown_with_the_expected_type() {
    insta::assert_snapshot!(rejected("[modules.memory.retrieval]\ncontext_token_budget = \"3000\"\n"));
    insta::assert_snapshot!(rejected("[modules.memory]\nenabled = \"yes\"\n"));
    insta::assert_snapshot!(rejected("[modules.memory.retrieval]\ndefault_limit = -1\n"));
}

#[test]
fn an_unknown_enum_value_is_shown_with_the_nearest_valid_one() {
    insta::assert_snapshot!(rejected("[modules.memory.retrieval]\ndefault_mode = \"semnatic\"\n"));
}

#[test]
fn an_invalid_value_is_shown_with_its_line() {
    insta::assert_snapshot!(rejected("[modules.memory.retrieval.score_weights]\nrelevance = 0.4\nrecency = -0.2\n"));
    insta::assert_snapshot!(rejected("[modules.memory.confidence]\nexpiry_threshold = 0.5\n"));
    insta::assert_snapshot!(rejected("[butler]\nname = \"My Butler\"\n"));
}

#[test]
fn a_schema_is_a_plain_name() {
    let with = |name: &str| format!("[butler.database]\nschema = {name:?}\n");
    for name in ["a b;", "Odd", "1st", "", "über", "a-b", "pg_temp", &"x".repeat(64)] {
        let shown = rejected(&with(name));
        assert!(shown.contains("butler.database.schema must") && shown.contains("butler.toml:2"), "{shown}");
    }
    for name in ["public", "_a1", "health_2"] {
        parse(Path::new("butler.toml"), &with(name)).expect("a plain name");
    }
}

#[test]
fn a_runtime_without_its_required_keys_is_rejected() {
    insta::assert_snapshot!(rejected("[butler.runtime]\ntype = \"command\"\n"));
    insta::assert_snapshot!(rejected("[butler.runtime]\ncommand = [\"claude\", \"-p\"]\n"));
}

#[test]
fn a_runtime_that_would_expose_secrets_or_memory_is_rejected() {
    let with = |line: &str| rejected(&format!("[butler.runtime]\ntype = \"command\"\ncommand = [\"llm\"]\n{line}\n"));
    for (name, reason) in [("BUTLER_DATABASE_URL", "never reach"), ("PGPASSWORD", "never reach"), ("A=B", "expected")] {
        let shown = with(&format!("env = [\"OK\", {name:?}]"));
        assert!(shown.contains("butler.runtime.env contains") && shown.contains(reason), "{shown}");
        assert!(shown.contains("butler.toml:4"), "{shown}");
    }
    let shown = rejected("[butler.runtime]\ntype = \"command\"\ncommand = [\"llm\", \"-s\", \"{system_prompt}\"]\n");
    assert!(shown.contains("every user of the machine") && shown.contains("{system_prompt_file}"), "{shown}");
}

#[test]
fn invalid_toml_is_shown_with_its_position() {
    insta::assert_snapshot!(rejected("[butler]\nname = \"health\nx = 1\n"));
}

#[test]
fn a_password_on_the_offending_line_is_masked() {
    let shown = rejected("[butler.database]\nulr = \"postgres://ann:s3cret@db.example/x\"\n");
    assert!(shown.contains("did you mean `url`?"), "{shown}");
    assert!(shown.contains("ann:***@db.example") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn every_documented_key_is_accepted() {
    let source = r#"
        [butler]
        name = "health"
        description = "sleep, food and sport"
        [butler.database]
        url = "postgres://u:p@db.example/health"
        read_url = "postgres://u:p@replica.example/health"
        schema = "health"
        [butler.runtime]
        type = "openai"
        timeout_s = 60
        base_url = "http://127.0.0.1:11434/v1"
        model = "qwen3"
        api_key_env = "KEY"
        [modules.memory]
        enabled = true
        [modules.memory.embedding]
        model = "all-MiniLM-L6-v2"
        dimensions = 384
        model_dir = "/opt/model"
        [modules.memory.episodes]
        default_ttl_days = 7
        max_entries = 10000
        max_unlearned = 100000
        [modules.memory.confidence]
        retrieval_threshold = 0.2
        expiry_threshold = 0.05
        [modules.memory.rules]
        established = {successes = 5, effectiveness = 0.6}
        proven = {successes = 15, effectiveness = 0.8, age_days = 30}
        anti_pattern = {harmful = 3, effectiveness = 0.3}
        [modules.memory.retrieval]
        context_token_budget = 3000
        default_limit = 20
        default_mode = "hybrid"
        keyword_match = "broad"
        score_weights = {relevance = 0.4, importance = 0.3, recency = 0.2, confidence = 0.1}
        [modules.memory.context]
        include_episodes = true
        quotas = {facts = 0.5, rules = 0.3, episodes = 0.2}
        [modules.memory.consolidation]
        batch_size = 50
        max_attempts = 5
        prompt_token_cap = 24000
        [modules.memory.schedule]
        consolidation = "0 */6 * * *"
        decay_sweep = "0 3 * * *"
        episode_cleanup = "0 4 * * *"
    "#;
    let parsed = parse(Path::new("butler.toml"), source).expect("every key is valid");
    assert_eq!(parsed.file.butler.name.as_deref(), Some("health"));
    assert_eq!(parsed.file.modules.memory.retrieval.default_limit, Some(20));
    assert!(parsed.set.contains("modules.memory.rules.proven.age_days"), "{:?}", parsed.set);
}

#[test]
fn custom_configuration_overrides_what_it_names_and_nothing_else() {
    let source = "[modules.memory.retrieval]\ncontext_token_budget = 500\nscore_weights = { relevance = 0.9 }\n";
    let retrieval = parse(Path::new("butler.toml"), source).unwrap().file.modules.memory.retrieval;
    assert_eq!(retrieval.context_token_budget, 500);
    assert_eq!((retrieval.score_weights.relevance, retrieval.score_weights.importance), (0.9, 0.3));
    assert_eq!((retrieval.depth(), retrieval.tool_limit()), (20, 10));
}

#[test]
fn without_any_configuration_there_is_one_butler_called_general() {
    let butlers = config::load_all(&Source::Defaults).unwrap();
    assert_eq!(butlers.len(), 1);
    assert_eq!(butlers[0].name, "general");
    assert!(butlers[0].file.modules.memory.enabled);
}

#[test]
fn a_roster_has_one_butler_per_directory_named_after_it_unless_its_file_sets_a_name() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, text) in [("health", ""), ("money", "[butler]\nname = \"finance\"\n"), ("notes", "-")] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        if text != "-" {
            std::fs::write(dir.path().join(folder).join("butler.toml"), text).unwrap();
        }
    }
    let butlers = config::load_all(&Source::Roster(dir.path().to_path_buf())).unwrap();
    assert_eq!(butlers.iter().map(|butler| butler.name.as_str()).collect::<Vec<_>>(), ["health", "finance"]);

    std::fs::write(dir.path().join("health/butler.toml"), "[butler]\nname = \"finance\"\n").unwrap();
    let error = config::load_all(&Source::Roster(dir.path().to_path_buf())).unwrap_err().to_string();
    assert!(error.contains("two butlers called \"finance\""), "{error}");
}

#[test]
fn an_empty_roster_and_a_missing_file_are_errors_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let empty = config::load_all(&Source::Roster(dir.path().to_path_buf())).unwrap_err();
    assert!(empty.hint().unwrap().contains("butler.toml"), "{empty:?}");
    let missing = config::load_all(&Source::File(dir.path().join("butler.toml"))).unwrap_err();
    assert!(missing.hint().unwrap().contains("--config"), "{missing:?}");
}
