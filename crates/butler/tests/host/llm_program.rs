//! What the program of `[butler.runtime]` sees: in a consolidation as little as possible, in `butler run` everything but
//! memory on its command line.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::program::{butler, eventually, is_alive, send, stderr, stdout, wait};

const SOON: Duration = Duration::from_secs(60);

/// A butler whose LLM is a shell script called `claude`.
struct Claude {
    dir: tempfile::TempDir,
}

impl Claude {
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let claude = Self { dir };
        let program = claude.path("claude");
        let here = claude.dir.path().display();
        std::fs::write(&program, format!("#!/bin/sh\nhere='{here}'\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config = format!(
            "[butler.runtime]\ntype = \"command\"\ncommand = [{:?}, \"-p\"]\nenv = [\"MY_LLM_KEY\"]\n\
             [butler.session]\nmemory_timeout_s = 60.0\n",
            program.display().to_string()
        );
        std::fs::write(claude.path("butler.toml"), config).unwrap();
        std::fs::create_dir(claude.path("tmp")).unwrap();
        claude
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn butler(&self, args: &[&str]) -> Command {
        let mut command = butler();
        command.args(args).arg("--data-dir").arg(self.path("data")).arg("--config").arg(self.path("butler.toml"));
        command.env("TMPDIR", self.path("tmp")).stdin(Stdio::null());
        command
    }

    fn remember(&self, fact: &[&str]) {
        let output = self.butler(&["remember"]).args(fact).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn seen(&self) -> String {
        std::fs::read_to_string(self.path("seen")).unwrap_or_default()
    }

    /// The number of private directories of running programs.
    fn private_dirs(&self) -> usize {
        std::fs::read_dir(self.path("tmp")).unwrap().count()
    }
}

/// Writes the program's variables, arguments and working directory to a file, then answers that there is nothing to
/// learn.
const DUMP: &str = r#"{ env; echo "cwd=$(pwd) mode=$(stat -c %a .) files=$(ls -A | wc -l)"
    for argument in "$@"; do echo "argument=<$argument>"; done; } > "$here/seen"
cat > "$here/input"
echo '{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": []}'"#;

#[test]
fn a_consolidation_runs_its_program_without_secrets_files_and_tools() {
    let claude = Claude::new(DUMP);
    claude.remember(&["episode", "the user said hello"]);
    let mut job = claude.butler(&["jobs", "run", "consolidation"]);
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "the-login"),
        ("MY_LLM_KEY", "the-extra"),
        ("https_proxy", ""),
        ("GITHUB_TOKEN", "s3cret"),
        ("PGPASSWORD", "s3cret"),
        ("DATABASE_URL", "s3cret"),
        ("BUTLER_LOG_FORMAT", "text"),
    ] {
        job.env(name, value);
    }
    let output = job.current_dir(claude.dir.path()).output().unwrap();
    assert!(output.status.success(), "{} {}", stdout(&output), stderr(&output));
    let seen = claude.seen();
    let has = |line: &str| seen.lines().any(|seen| seen == line);
    assert!(has("ANTHROPIC_API_KEY=the-login") && has("MY_LLM_KEY=the-extra") && has("https_proxy="), "{seen}");
    assert!(["HOME=", "PATH="].iter().all(|name| seen.lines().any(|line| line.starts_with(name))), "{seen}");
    assert!(!seen.contains("s3cret") && !seen.contains("GITHUB_TOKEN"), "{seen}");
    let butlers: Vec<&str> = seen.lines().filter(|line| line.starts_with("BUTLER_")).collect();
    assert_eq!(butlers, ["BUTLER_TRIGGER_SOURCE=schedule:consolidation"]);
    let cwd = seen.lines().find(|line| line.starts_with("cwd=")).unwrap();
    assert!(cwd.starts_with(&format!("cwd={}/butler-llm-", claude.path("tmp").display())), "{cwd}");
    assert!(cwd.ends_with(" mode=700 files=0"), "{cwd}");
    let arguments: Vec<&str> = seen.lines().filter_map(|line| line.strip_prefix("argument=")).collect();
    let restricted =
        ["<--tools>", "<>", "<--strict-mcp-config>", "<--setting-sources>", "<>", "<--no-session-persistence>"];
    assert_eq!((arguments[0], &arguments[1..]), ("<-p>", &restricted[..]));
    assert_eq!(claude.private_dirs(), 0, "the working directory is removed");
    assert!(std::fs::read_to_string(claude.path("input")).unwrap().contains("the user said hello"));
}

#[test]
fn a_session_of_butler_run_keeps_its_tools_and_its_environment() {
    let claude = Claude::new(DUMP);
    let mut run = claude.butler(&["run", "hello"]);
    let output = run.env("GITHUB_TOKEN", "mine").current_dir(claude.dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let seen = claude.seen();
    assert!(seen.contains("GITHUB_TOKEN=mine") && seen.contains("argument=<--mcp-config>"), "{seen}");
    assert!(!seen.contains("argument=<--tools>") && !seen.contains("argument=<--setting-sources>"), "{seen}");
    assert!(seen.contains(&format!("cwd={} ", claude.dir.path().display())), "{seen}");
}

/// Waits until the test has looked at the process.
const WAIT: &str = r#"echo $$ > "$here/pid.new"; mv "$here/pid.new" "$here/pid"
while ! test -e "$here/go"; do sleep 0.05; done
cat > /dev/null; echo answered"#;

/// The command line of the running program, and the file with its system prompt.
fn look_at(claude: &Claude) -> (i32, String, PathBuf) {
    let pid = eventually(SOON, "the program runs", || std::fs::read_to_string(claude.path("pid")).ok());
    let pid: i32 = pid.trim().parse().unwrap();
    let command_line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words: Vec<String> =
        command_line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let flag =
        words.iter().position(|word| word == "--append-system-prompt-file").unwrap_or_else(|| panic!("{words:?}"));
    (pid, words.join(" "), PathBuf::from(&words[flag + 1]))
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn memory_is_in_a_private_file_and_not_on_the_command_line() {
    let claude = Claude::new(WAIT);
    claude.remember(&["fact", "Anna", "allergy", "zanzibarnuts"]);
    let mut run = claude.butler(&["run", "Plan a dinner for Anna"]).stdout(Stdio::piped()).spawn().unwrap();
    let (_, command_line, file) = look_at(&claude);
    assert!(!command_line.contains("zanzibarnuts"), "{command_line}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("zanzibarnuts"));
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    std::fs::write(claude.path("go"), "").unwrap();
    assert!(wait(&mut run, SOON).success());
    assert_eq!(claude.private_dirs(), 0, "the file is removed");

    // A signal removes the file and ends the program, too.
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let _ = std::fs::remove_file(claude.path("go"));
        std::fs::remove_file(claude.path("pid")).unwrap();
        let mut run = claude.butler(&["run", "Plan a dinner for Anna"]).spawn().unwrap();
        let (pid, _, file) = look_at(&claude);
        assert!(file.is_file());
        send(run.id() as i32, signal);
        assert!(!wait(&mut run, SOON).success());
        assert_eq!(claude.private_dirs(), 0, "{signal:?}");
        eventually(SOON, "the program ends", || (!is_alive(pid)).then_some(()));
    }
}
