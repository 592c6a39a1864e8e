use std::time::Duration;

use butler_host::runtime::CommandRuntime;
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};

async fn run(script: &str, timeout: Duration) -> Result<Completion, RuntimeError> {
    let command = ["sh", "-c", script].map(str::to_owned);
    CommandRuntime::new(&command, timeout).unwrap().complete(session("the prompt")).await
}

fn session(prompt: &str) -> Session {
    Session::new("schedule:consolidation", prompt)
}

const LONG: Duration = Duration::from_secs(90);

#[tokio::test]
async fn the_prompt_goes_to_stdin_and_the_answer_comes_from_stdout() {
    let answer = run("echo thinking >&2; cat", LONG).await.unwrap();
    assert_eq!(answer.text, "the prompt");
}

#[tokio::test]
async fn a_system_text_precedes_the_prompt() {
    let runtime = CommandRuntime::new(&["cat".to_owned()], LONG).unwrap();
    let answer = runtime.complete(Session { system: Some("be brief".to_owned()), ..session("hello") }).await.unwrap();
    assert_eq!(answer.text, "be brief\n\nhello");
}

#[tokio::test]
async fn a_session_is_spawned_with_its_trigger_source() {
    let answer = run("printf %s \"$BUTLER_TRIGGER_SOURCE\"", LONG).await.unwrap();
    assert_eq!(answer.text, "schedule:consolidation");
}

#[tokio::test]
async fn a_prompt_larger_than_any_pipe_reaches_a_program_that_answers_while_it_reads() {
    let prompt = "0123456789".repeat(200_000);
    let runtime = CommandRuntime::new(&["cat".to_owned()], LONG).unwrap();
    let answer = runtime.complete(session(&prompt)).await.unwrap();
    assert_eq!(answer.text.len(), prompt.len());
}

#[tokio::test]
async fn a_program_may_answer_without_reading_its_input() {
    let runtime = CommandRuntime::new(&["echo".to_owned(), "done".to_owned()], LONG).unwrap();
    let answer = runtime.complete(session(&"x".repeat(1_000_000))).await.unwrap();
    assert_eq!(answer.text, "done\n");
}

#[tokio::test]
async fn no_output_is_an_empty_answer_and_invalid_utf8_is_replaced() {
    assert_eq!(run("true", LONG).await.unwrap().text, "");
    // Invalid UTF-8 is replaced, so that the parser reports the problem.
    assert_eq!(run(r"printf 'a\377b'", LONG).await.unwrap().text, "a\u{fffd}b");
}

#[tokio::test]
async fn a_failed_program_is_reported_with_its_stderr() {
    let error = run("echo partial; echo 'no credit left' >&2; exit 3", LONG).await.unwrap_err();
    assert_eq!(error.to_string(), "sh ended with exit status: 3: no credit left");
    let error = run("kill -SEGV $$", LONG).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Failed { .. }), "{error}");
}

#[tokio::test]
async fn a_missing_program_is_named_in_the_error() {
    let runtime = CommandRuntime::new(&["no-such-program-here".to_owned()], LONG).unwrap();
    let error = runtime.complete(session("")).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot start no-such-program-here: "), "{error}");
    assert!(error.hint().unwrap().contains("[butler.runtime] command"));
}

#[tokio::test]
async fn a_timeout_kills_the_whole_process_group() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // The program, and a child process that ignores SIGTERM, SIGHUP and SIGINT.
    let script = format!(
        "(trap '' TERM HUP INT; echo $$ >> {0}; exec sleep 600) & echo $! >> {0}; echo stuck >&2; wait",
        pids.display()
    );
    // On a busy machine the processes may need longer to start than the first timeout.
    for timeout in [500, 5_000, 50_000].map(Duration::from_millis) {
        let _ = std::fs::remove_file(&pids);
        let error = run(&script, timeout).await.unwrap_err();
        let started = std::fs::read_to_string(&pids).unwrap_or_default();
        for pid in started.lines() {
            until_gone(pid).await;
        }
        if started.lines().count() == 2 {
            assert!(matches!(&error, RuntimeError::TimedOut { stderr, .. } if stderr == "stuck"), "{error}");
            return;
        }
    }
    panic!("the processes did not start");
}

#[tokio::test]
async fn an_aborted_session_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
    let session = tokio::spawn(async move { run(&script, LONG).await });
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&file) {
            break pid.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    session.abort();
    until_gone(&pid).await;
}

#[tokio::test]
async fn a_child_that_outlives_the_program_does_not_delay_the_answer() {
    // Without the answer this ends with an error, because the child outlives the timeout.
    let answer = run("sleep 600 & echo answer", LONG).await.unwrap();
    assert_eq!(answer.text, "answer\n");
}

#[tokio::test]
async fn output_over_the_limit_is_an_error() {
    let error = run("yes 0123456789 | head -c 10000000", LONG).await.unwrap_err();
    assert!(matches!(error, RuntimeError::TooLarge { limit, .. } if limit < 10_000_000), "{error}");
    // Only the end of stderr is reported.
    let error = run("yes 0123456789 | head -c 10000000 >&2; echo the reason >&2; exit 1", LONG).await.unwrap_err();
    let message = error.to_string();
    assert!(message.ends_with("the reason") && message.len() < 1000, "{message}");
}

/// Waits until a process has exited. A zombie counts as exited.
async fn until_gone(pid: &str) {
    for _ in 0..6000 {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) if !stat.contains(") Z") => tokio::time::sleep(Duration::from_millis(10)).await,
            _ => return,
        }
    }
    panic!("process {pid} is still there");
}
