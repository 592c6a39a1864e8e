//! Tool calls that could not be delivered, kept as files in the data directory until a butler runs. Each call has an
//! idempotency key, so that one that arrived although its caller saw no answer is not stored twice.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use butler_domain::ids::new_id;
use butler_domain::{Clock, SystemClock};
use butler_memory::Caller;
use butler_memory::tool::{ErrorCode, ToolCall, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::Rights;
use crate::host::Host;

const DIRECTORY: &str = "spool";
const WAITING: &str = "json";
const REFUSED: &str = "refused";

/// Calls delivered in one pass, so that a long spool holds few files open.
const PASS: usize = 64;

/// The directory of undelivered calls.
#[derive(Debug, Clone)]
pub struct Spool {
    directory: PathBuf,
}

/// A call of a tool that can wait.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpooledCall {
    /// `None` for the first butler.
    pub butler: Option<String>,
    pub tool: String,
    /// Contain the idempotency key, and the tenant if it is not the default.
    pub arguments: Map<String, Value>,
}

impl SpooledCall {
    /// The arguments for a butler. A spooled call does not name it, because its name may not be known yet.
    pub fn arguments_for(&self, butler: &str) -> Map<String, Value> {
        let mut arguments = self.arguments.clone();
        arguments.insert("butler".to_owned(), butler.into());
        arguments
    }
}

/// A call in the spool, locked while this value exists so that no other process delivers it.
#[derive(Debug)]
pub struct SpoolEntry {
    path: PathBuf,
    pub call: SpooledCall,
    _lock: File,
}

impl SpoolEntry {
    /// Removes the call from the spool once it is stored.
    pub fn delivered(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Sets a call aside that the butler will never accept.
    fn refused(&self) -> io::Result<PathBuf> {
        let aside = self.path.with_extension(REFUSED);
        fs::rename(&self.path, &aside).map(|()| aside)
    }
}

impl Spool {
    pub fn new(data_dir: &Path) -> Self {
        Self { directory: data_dir.join(DIRECTORY) }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a call to disk and returns when it would survive a crash.
    pub fn add(&self, call: SpooledCall) -> io::Result<SpoolEntry> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let path = self.directory.join(new_id(SystemClock.now()).to_string()).with_extension(WAITING);
        let fresh = path.with_extension("new");
        let write = || {
            let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&fresh)?;
            file.lock()?;
            file.write_all(&serde_json::to_vec(&call)?)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            File::open(&self.directory)?.sync_all()?;
            Ok(file)
        };
        match write() {
            Ok(lock) => Ok(SpoolEntry { path, call, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_file(&fresh);
                Err(error)
            }
        }
    }

    /// How many calls are waiting, and how many were refused.
    pub fn count(&self) -> (usize, usize) {
        (self.files(WAITING).len(), self.files(REFUSED).len())
    }

    /// The oldest waiting calls that no other process is delivering.
    fn claim(&self) -> Vec<SpoolEntry> {
        self.files(WAITING).into_iter().filter_map(|path| claim(&path).ok().flatten()).take(PASS).collect()
    }

    /// The files with this extension, oldest first: the names begin with the time.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(directory) = fs::read_dir(&self.directory) else { return Vec::new() };
        let paths = directory.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
        paths.sort_unstable();
        paths
    }
}

fn claim(path: &Path) -> io::Result<Option<SpoolEntry>> {
    let mut file = File::open(path)?;
    // Another process may have delivered the call and removed the file after it was opened here.
    if file.try_lock().is_err() || file.metadata()?.nlink() == 0 {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    match serde_json::from_slice(&text) {
        Ok(call) => Ok(Some(SpoolEntry { path: path.to_owned(), call, _lock: file })),
        Err(error) => {
            tracing::error!(file = %path.display(), %error, "set aside a spooled call that cannot be read");
            fs::rename(path, path.with_extension(REFUSED)).map(|()| None)
        }
    }
}

/// Delivers the calls that are waiting. Calls that cannot be delivered now stay in the spool.
pub async fn deliver(host: &Host) {
    let spool = Spool::new(&host.options().data_dir);
    loop {
        let claimed = spool.clone();
        let entries = tokio::task::spawn_blocking(move || claimed.claim()).await.unwrap_or_default();
        let (claimed, mut stored, mut away) = (entries.len(), 0, Vec::new());
        for entry in entries {
            if away.contains(&entry.call.butler) {
                continue;
            }
            let Err(error) = deliver_one(host, &entry).await else {
                stored += 1;
                if let Err(error) = entry.delivered() {
                    tracing::error!(%error, "a stored call stays in the spool; its key keeps it from being stored twice");
                    return;
                }
                continue;
            };
            match error.code {
                // The butler may belong to another configuration, and the next version may mend a fault.
                ErrorCode::Unavailable | ErrorCode::NotFound | ErrorCode::Internal => {
                    tracing::debug!(file = %entry.path.display(), error = error.message, "a spooled call waits");
                    if error.code == ErrorCode::Unavailable {
                        away.push(entry.call.butler.clone());
                    }
                }
                _ => match entry.refused() {
                    Ok(path) => {
                        tracing::error!(file = %path.display(), error = error.message, "a spooled call was refused")
                    }
                    Err(error) => tracing::error!(%error, "cannot set aside a spooled call that was refused"),
                },
            }
        }
        if stored > 0 {
            tracing::info!(stored, "stored calls that had been waiting in the spool");
        }
        if claimed < PASS || stored == 0 {
            return;
        }
    }
}

async fn deliver_one(host: &Host, entry: &SpoolEntry) -> Result<(), ToolError> {
    let not_found = |message: String| ToolError::new(ErrorCode::NotFound, message);
    let butler = host.butler(entry.call.butler.as_deref()).map_err(|error| not_found(error.to_string()))?;
    let tools = butler.tools();
    let tool = tools.get(&entry.call.tool).ok_or_else(|| not_found(format!("no tool {:?}", entry.call.tool)))?;
    let arguments = entry.call.arguments_for(butler.name.as_str());
    let call = ToolCall::parse(tool.spec(), Caller::trusted(), arguments, host.redactor());
    host.call(&butler, Rights::ALL, &**tool, call).await.map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(text: &str) -> SpooledCall {
        let Value::Object(arguments) = json!({"content": text}) else { unreachable!() };
        SpooledCall { butler: None, tool: "memory_store_episode".to_owned(), arguments }
    }

    #[test]
    fn a_call_is_claimed_once_in_order_and_only_when_nobody_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::new(dir.path());
        assert!(spool.claim().is_empty(), "there is no directory yet");
        let first = spool.add(call("first")).unwrap();
        drop(spool.add(call("second")).unwrap());
        let claimed = spool.claim();
        assert_eq!(claimed.len(), 1, "the first is still held");
        assert_eq!(claimed[0].call.arguments["content"], "second");
        drop(first);
        assert_eq!(spool.claim().len(), 1, "now the second is held");
        drop(claimed);
        let claimed = spool.claim();
        let order: Vec<_> = claimed.iter().map(|entry| entry.call.arguments["content"].clone()).collect();
        assert_eq!(order, ["first", "second"]);
        claimed.into_iter().for_each(|entry| entry.delivered().unwrap());
        assert_eq!(spool.count(), (0, 0));
    }

    #[test]
    fn an_unreadable_file_is_set_aside_and_the_spool_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::new(dir.path());
        let entry = spool.add(call("text")).unwrap();
        assert_eq!(fs::metadata(&entry.path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(spool.directory()).unwrap().mode() & 0o777, 0o700);
        drop(entry);
        fs::write(spool.directory().join("0.json"), "{half").unwrap();
        assert_eq!(spool.claim().len(), 1);
        assert_eq!(spool.count(), (1, 1));
    }
}
