//! A program as the LLM: it reads the prompt on stdin and writes the response to stdout.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use futures::future::{BoxFuture, FutureExt};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::invocation::Invocation;
use super::private_dir::PrivateDir;
use super::{MAX_RESPONSE_BYTES, environment, excerpt};

/// The reason for a failure is at the end of stderr, so only the end is kept.
const STDERR_BYTES: usize = 4096;
/// How long to wait for the end of the output after the program has exited, because a child process may keep it open.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);
/// The variable that tells the program and its hooks why it was started: `butler hook session-end` stores no episode
/// for a consolidation.
pub const TRIGGER_VARIABLE: &str = crate::env::TRIGGER_SOURCE;

pub struct CommandRuntime {
    program: String,
    arguments: Vec<String>,
    /// Variables that sessions with untrusted text get in addition to the usual ones.
    variables: Vec<String>,
    timeout: Duration,
}

impl CommandRuntime {
    pub fn new(command: &[String], timeout: Duration) -> Result<Self, RuntimeError> {
        match command {
            [program, arguments @ ..] if !program.is_empty() => {
                let (program, arguments) = (program.clone(), arguments.to_vec());
                Ok(Self { program, arguments, variables: Vec::new(), timeout })
            }
            _ => Err(RuntimeError::Misconfigured("[butler.runtime] command names no program".to_owned())),
        }
    }

    #[must_use]
    pub fn with_variables(self, variables: &[String]) -> Self {
        Self { variables: variables.to_vec(), ..self }
    }

    fn start(&self, session: &Session, arguments: &[String], dir: &PrivateDir) -> Result<Child, RuntimeError> {
        let cannot_start = |source| RuntimeError::CannotStart { program: self.program.clone(), source };
        let mut command = Command::new(self.path().map_err(cannot_start)?);
        if !session.trusted {
            command.env_clear().envs(environment::allowed(&self.variables));
            command.current_dir(dir.working_directory().map_err(cannot_start)?);
        }
        command.args(arguments).env(TRIGGER_VARIABLE, &session.trigger_source);
        // Remove the variables of an outer session.
        match &session.mcp_config {
            Some(file) => command.env(crate::env::MCP_CONFIG, file),
            None => command.env_remove(crate::env::MCP_CONFIG),
        };
        match &session.id {
            Some(id) => command.env(crate::env::SESSION_ID, id.to_string()),
            None => command.env_remove(crate::env::SESSION_ID),
        };
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A separate process group, so that its child processes can be killed with it.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(cannot_start)
    }

    /// The program, independent of the working directory.
    fn path(&self) -> std::io::Result<PathBuf> {
        let is_path = self.program.contains('/');
        if is_path { std::path::absolute(&self.program) } else { Ok(PathBuf::from(&self.program)) }
    }

    async fn run(&self, session: Session) -> Result<Completion, RuntimeError> {
        let no_directory = |error: std::io::Error| {
            RuntimeError::Misconfigured(format!(
                "cannot create private files for {} in {}: {error}",
                self.program,
                std::env::temp_dir().display()
            ))
        };
        // Removed when this call ends, also when it is dropped.
        let dir = PrivateDir::create().map_err(no_directory)?;
        let system_file = dir.path("system-prompt.md");
        let Invocation { arguments, input, reads_system_file } =
            Invocation::of(&self.program, &self.arguments, &session, &system_file);
        if let Some(system) = session.system.as_deref().filter(|_| reads_system_file) {
            PrivateDir::write(&system_file, system).map_err(no_directory)?;
        }
        let mut child = self.start(&session, &arguments, &dir)?;
        let group = ProcessGroup::of(&child);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(RuntimeError::Misconfigured(format!("{} has no pipes", self.program)));
        };
        let (mut answer, mut errors) = (Vec::new(), Vec::new());
        let conversation = async {
            let feed = async {
                // A program may respond without reading all of its input, so a broken pipe is not an error.
                let _ = stdin.write_all(input.as_bytes()).await;
                drop(stdin);
                Ok(())
            };
            tokio::try_join!(feed, read_all(stdout, &mut answer), read_tail(stderr, &mut errors)).map(drop)
        };
        let finished = timeout(self.timeout, async {
            tokio::pin!(conversation);
            tokio::select! {
                read = &mut conversation => { read?; child.wait().await.map_err(ReadError::Io) }
                status = child.wait() => {
                    if let Ok(read) = timeout(OUTPUT_GRACE, conversation).await { read?; }
                    status.map_err(ReadError::Io)
                }
            }
        })
        .await;
        let stderr = excerpt(&String::from_utf8_lossy(&errors));
        match finished {
            Err(_) => Err(RuntimeError::TimedOut { runtime: self.describe(), after: self.timeout, stderr }),
            Ok(Err(ReadError::TooLarge)) => {
                Err(RuntimeError::TooLarge { runtime: self.describe(), limit: MAX_RESPONSE_BYTES })
            }
            Ok(Err(ReadError::Io(source))) => Err(RuntimeError::CannotStart { program: self.program.clone(), source }),
            Ok(Ok(status)) if !status.success() => {
                Err(RuntimeError::Failed { program: self.program.clone(), status: status.to_string(), stderr })
            }
            Ok(Ok(_)) => {
                group.ended();
                Ok(Completion { text: String::from_utf8_lossy(&answer).into_owned(), ..Completion::default() })
            }
        }
    }
}

impl Runtime for CommandRuntime {
    fn describe(&self) -> String {
        format!("the program {}", self.program)
    }

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        self.run(session).boxed()
    }
}

/// Kills the program's process group when dropped, unless the program has exited successfully.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that no process of the group is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

enum ReadError {
    TooLarge,
    Io(std::io::Error),
}

async fn read_all(mut from: impl AsyncRead + Unpin, into: &mut Vec<u8>) -> Result<(), ReadError> {
    while from.read_buf(into).await.map_err(ReadError::Io)? > 0 {
        if into.len() > MAX_RESPONSE_BYTES {
            return Err(ReadError::TooLarge);
        }
    }
    Ok(())
}

async fn read_tail(mut from: impl AsyncRead + Unpin, into: &mut Vec<u8>) -> Result<(), ReadError> {
    while from.read_buf(into).await.map_err(ReadError::Io)? > 0 {
        if into.len() > 2 * STDERR_BYTES {
            into.drain(..into.len() - STDERR_BYTES);
        }
    }
    Ok(())
}
