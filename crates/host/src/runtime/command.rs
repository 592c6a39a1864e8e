//! Any program as the LLM: the prompt on its stdin, the answer on its stdout.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use futures::future::{BoxFuture, FutureExt};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::invocation::Invocation;
use super::{ANSWER_BYTES, excerpt};

/// The end of what a program said on stderr is where its reason stands.
const STDERR_BYTES: usize = 4096;
/// How long after the program's end a helper it left behind may still hold its output open.
const LINGER: Duration = Duration::from_secs(2);
/// Tells the program, and hooks that run inside it, why it was started: `butler hook session-end` stores no episode
/// of a consolidation.
pub const TRIGGER_VARIABLE: &str = crate::env::TRIGGER_SOURCE;

pub struct CommandRuntime {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl CommandRuntime {
    pub fn new(command: &[String], timeout: Duration) -> Result<Self, RuntimeError> {
        match command {
            [program, arguments @ ..] if !program.is_empty() => {
                Ok(Self { program: program.clone(), arguments: arguments.to_vec(), timeout })
            }
            _ => Err(RuntimeError::Misconfigured("[butler.runtime] command names no program".to_owned())),
        }
    }

    fn start(&self, session: &Session, arguments: &[String]) -> Result<Child, RuntimeError> {
        let directory = session.directory.as_deref().unwrap_or(Path::new("."));
        let mut command = Command::new(&self.program);
        command.args(arguments).env(TRIGGER_VARIABLE, &session.trigger_source).current_dir(directory);
        // What an outer session left in the environment is not this one's.
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
            // A group of its own, so that what it starts can be ended with it.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| RuntimeError::CannotStart { program: self.program.clone(), source })
    }

    async fn run(&self, session: Session) -> Result<Completion, RuntimeError> {
        let Invocation { arguments, input } = Invocation::of(&self.program, &self.arguments, &session);
        let mut child = self.start(&session, &arguments)?;
        let group = Group::of(&child);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(RuntimeError::Misconfigured(format!("{} has no pipes", self.program)));
        };
        let (mut answer, mut said) = (Vec::new(), Vec::new());
        let conversation = async {
            let feed = async {
                // A program that does not read all of its input is still free to answer.
                let _ = stdin.write_all(input.as_bytes()).await;
                drop(stdin);
                Ok(())
            };
            tokio::try_join!(feed, read_all(stdout, &mut answer), read_tail(stderr, &mut said)).map(drop)
        };
        let finished = timeout(self.timeout, async {
            tokio::pin!(conversation);
            tokio::select! {
                read = &mut conversation => { read?; child.wait().await.map_err(ReadError::Io) }
                status = child.wait() => {
                    if let Ok(read) = timeout(LINGER, conversation).await { read?; }
                    status.map_err(ReadError::Io)
                }
            }
        })
        .await;
        let stderr = excerpt(&String::from_utf8_lossy(&said));
        match finished {
            Err(_) => Err(RuntimeError::TimedOut { runtime: self.describe(), after: self.timeout, stderr }),
            Ok(Err(ReadError::TooLarge)) => {
                Err(RuntimeError::TooLarge { runtime: self.describe(), limit: ANSWER_BYTES })
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

/// Ends the whole process group unless it ended well by itself, also when the session is abandoned half way.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that nobody of the group is left.
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
        if into.len() > ANSWER_BYTES {
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
