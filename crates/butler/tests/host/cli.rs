//! Commands that do not need a server.

use std::process::Stdio;

use crate::program::{butler, run, stderr, stdout};

#[test]
fn help_names_every_command_with_examples() {
    let output = run(["--help"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn invalid_usage_exits_with_code_2_and_suggests_the_right_command() {
    let output = run(["serv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("serve"), "{}", stderr(&output));
    assert_eq!(run(["serve", "--listen", "nowhere"]).status.code(), Some(2));
    assert_eq!(run(Vec::<&str>::new()).status.code(), Some(2));
}

#[test]
fn usage_errors_do_not_list_options_from_the_environment() {
    let output = butler().args(["get", "--loud"]).env("BUTLER_DATA_DIR", "/somewhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("Usage: ") && !stderr(&output).contains("--data-dir"), "{}", stderr(&output));
}

#[test]
fn version_is_one_line() {
    assert_eq!(stdout(&run(["--version"])), format!("butler {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_are_generated_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&run(["completions", shell]));
        assert!(script.contains("serve") && script.contains("doctor"), "{shell}");
    }
}

#[test]
fn completions_end_quietly_when_the_reader_closes_the_pipe() {
    let mut child =
        butler().args(["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn config_show_prints_the_origin_of_each_value_and_masks_passwords() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("butler.toml");
    std::fs::write(
        &file,
        "[butler]\nname = \"health\"\n[butler.database]\nurl = \"postgres://ann:s3cret@db.example/health\"\n\
         [modules.memory.retrieval]\ndefault_limit = 5\n",
    )
    .unwrap();
    let output = butler()
        .args(["config", "show", "--json", "--data-dir", "/somewhere", "--config"])
        .arg(&file)
        .env("BUTLER_LISTEN", "127.0.0.1:9999")
        .output()
        .unwrap();
    let text = stdout(&output);
    assert!(!text.contains("s3cret"), "{text}");
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let find = |list: &serde_json::Value, key: &str| {
        let found = list.as_array().unwrap().iter().find(|setting| setting["key"] == key);
        let found = found.unwrap_or_else(|| panic!("{key} is missing in {list}"));
        (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
    };
    let (host, butler) = (&shown["host"], &shown["butlers"][0]["settings"]);
    assert_eq!(find(host, "data_dir"), ("/somewhere".into(), "flag".to_owned()));
    assert_eq!(find(host, "listen"), ("127.0.0.1:9999".into(), "env".to_owned()));
    assert_eq!(find(host, "database_url").1, "default");
    assert_eq!(find(butler, "butler.name"), ("health".into(), "file".to_owned()));
    assert_eq!(find(butler, "modules.memory.retrieval.default_limit"), (5.into(), "file".to_owned()));
    assert_eq!(find(butler, "modules.memory.retrieval.context_token_budget"), (3000.into(), "default".to_owned()));
}

#[test]
fn config_show_includes_environment_variables() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("butler.toml");
    let text =
        "[butler.database]\nurl = \"postgres://ann@file.example/x\"\n[server]\nrate_limit = 5\ntls_key = \"key.pem\"\n";
    std::fs::write(&file, text).unwrap();
    let output = butler()
        .args(["config", "show", "--json", "--model-dir", "/model", "--config"])
        .arg(&file)
        .env("BUTLER_DATABASE_URL", "postgres://bob:s3cret@env.example/y")
        .env("BUTLER_RATE_LIMIT", "7")
        .env("BUTLER_ALLOWED_HOSTS", "a.example,b.example")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
        .output()
        .unwrap();
    let shown: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let settings = shown["butlers"][0]["settings"].as_array().unwrap();
    let find = |key: &str| {
        let found = settings.iter().find(|setting| setting["key"] == key).unwrap();
        (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
    };
    assert_eq!(find("butler.database.url"), ("postgres://bob:***@env.example/y".into(), "env".to_owned()));
    assert_eq!(find("server.rate_limit"), (7.into(), "env".to_owned()));
    assert_eq!(find("server.allowed_hosts"), (serde_json::json!(["a.example", "b.example"]), "env".to_owned()));
    assert_eq!(find("server.tls_key"), ("key.pem".into(), "file".to_owned()));
    assert_eq!(find("modules.memory.embedding.model_dir"), ("/model".into(), "flag".to_owned()));
    assert_eq!(find("telemetry.otlp_endpoint").1, "env");
}

#[test]
fn config_show_prints_text_without_json() {
    let output = butler().args(["config", "show", "--data-dir", "/somewhere"]).output().unwrap();
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn an_unknown_key_in_butler_toml_stops_every_command_and_names_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("butler.toml");
    std::fs::write(&file, "[modules.memory]\nenabeld = true\n").unwrap();
    for command in [&["serve"][..], &["mcp"], &["doctor"], &["config", "show"], &["db", "url"]] {
        let output =
            butler().args(command).arg("--config").arg(&file).arg("--data-dir").arg(dir.path()).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {text}");
        assert!(text.starts_with("error: unknown key `enabeld` in [modules.memory]"), "{command:?}: {text}");
        assert!(text.contains("butler.toml:2:1") && text.contains("hint: did you mean `enabled`?"), "{text}");
        assert!(stdout(&output).is_empty(), "{}", stdout(&output));
    }
}

#[test]
fn an_invalid_log_filter_is_an_error() {
    let output = butler().args(["config", "show"]).env("BUTLER_LOG", "butler=loud").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("invalid BUTLER_LOG"), "{}", stderr(&output));
}

#[test]
fn an_unknown_butler_is_an_error_that_lists_the_known_butlers() {
    let output = run(["config", "show", "--butler", "nobody"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("known butlers: general"), "{}", stderr(&output));
}
