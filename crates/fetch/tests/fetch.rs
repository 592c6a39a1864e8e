//! Fetches from a real HTTP server, with a fake pip that returns its URL.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail the test")]
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use butler_fetch::{Build, FetchError, Fetcher, Progress, Silent, Wheel};
use sha2::{Digest, Sha256};

const FILE: &str = "parcel-1.0-py3-none-any.whl";

/// Serves one file. Each response is cut off after the number of bytes in the next entry of `cuts`.
struct Server {
    url: String,
    /// The Range header of each request so far.
    ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    fn start(body: Vec<u8>, mut cuts: Vec<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/{FILE}", listener.local_addr().unwrap());
        let ranges: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
        let seen = ranges.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                let range = head.iter().find_map(|line| line.strip_prefix("Range: ").map(str::to_owned));
                let from = range.as_ref().map(|r| r["bytes=".len()..r.len() - 1].parse::<usize>().unwrap());
                seen.lock().unwrap().push(range);
                let rest = &body[from.unwrap_or(0).min(body.len())..];
                let status = if from.is_some() { "206 Partial Content" } else { "200 OK" };
                write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", rest.len())
                    .unwrap();
                let cut = if cuts.is_empty() { rest.len() } else { cuts.remove(0).min(rest.len()) };
                stream.write_all(&rest[..cut]).unwrap();
            }
        });
        Self { url, ranges }
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.ranges.lock().unwrap().clone()
    }
}

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        Self { dir }
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache with späces")
    }

    /// A `python3` that runs the given shell lines for `-m pip …` and otherwise the real Python.
    fn fetcher(&self, pip: &str) -> Fetcher {
        let path = std::env::var_os("PATH").unwrap();
        let real = std::env::split_paths(&path).map(|d| d.join("python3")).find(|p| p.is_file()).expect("a python3");
        let script = format!(
            "#!/bin/sh\ncase \"$1 $3\" in\n'-m --version') exit 0;;\n'-m config') exit 0;;\n{pip}\n*) exec '{}' \"$@\";;\nesac\n",
            real.display()
        );
        let program = self.dir.path().join("bin/python3");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Fetcher::with_path(self.dir.path().join("bin"))
    }

    fn fetcher_from(&self, url: &str) -> Fetcher {
        let report = format!(r#"{{"install": [{{"download_info": {{"url": "{url}"}}}}]}}"#);
        self.fetcher(&format!("'-m install') echo '{report}';;"))
    }
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o644);
    for (name, content) in entries {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn parcel() -> Vec<u8> {
    // Incompressible, so that it is large enough to be cut.
    let noise: Vec<u8> = (0..200_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    zip_of(&[("parcel/bin/tool", b"#!/bin/sh\necho tool\n"), ("parcel/data", &noise)])
}

fn wheel_of(body: &[u8]) -> Wheel {
    let sum: String = Sha256::digest(body).iter().map(|b| format!("{b:02x}")).collect();
    let sha256: &'static str = sum.leak();
    let size = body.len() as u64;
    let build = Build { os: "any", arch: "any", pip_platform: None, file: FILE, sha256, size };
    Wheel { package: "parcel", version: "1.0", builds: vec![build].leak() }
}

#[derive(Default)]
struct Recorder(Mutex<Vec<u64>>);

impl Progress for Recorder {
    fn start(&self, _: &str, total: Option<u64>) {
        assert!(total.is_some());
    }
    fn at(&self, done: u64) {
        self.0.lock().unwrap().push(done);
    }
    fn finish(&self, _: &str) {}
}

#[test]
fn a_broken_connection_is_continued_with_a_range_request() {
    let (bench, body) = (Bench::new(), parcel());
    let server = Server::start(body.clone(), vec![100_000, 50_000]);
    let progress = Recorder::default();
    let dir = bench.fetcher_from(&server.url).ensure(&wheel_of(&body), &bench.cache(), &progress).unwrap();
    let ranges = [None, Some("bytes=100000-".to_owned()), Some("bytes=150000-".to_owned())];
    assert_eq!(server.ranges(), ranges);
    let seen = progress.0.lock().unwrap();
    assert!(seen.is_sorted(), "the count never goes back");
    assert_eq!(seen.last(), Some(&(body.len() as u64)));
    let tool = dir.join("parcel/bin/tool");
    assert!(tool.metadata().unwrap().permissions().mode() & 0o111 != 0, "wheels lose the exec bits");
}

#[test]
fn an_interrupted_download_resumes_at_the_next_start() {
    let (bench, body) = (Bench::new(), parcel());
    let server = Server::start(body.clone(), vec![]);
    fs::create_dir_all(bench.cache()).unwrap();
    fs::write(bench.cache().join(format!("{FILE}.part")), &body[..70_000]).unwrap();
    bench.fetcher_from(&server.url).ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned())]);
}

#[test]
fn a_partial_file_of_another_download_is_replaced() {
    let (bench, body) = (Bench::new(), parcel());
    let server = Server::start(body.clone(), vec![]);
    fs::create_dir_all(bench.cache()).unwrap();
    fs::write(bench.cache().join(format!("{FILE}.part")), vec![7; 70_000]).unwrap();
    bench.fetcher_from(&server.url).ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap();
    assert_eq!(server.ranges(), [Some("bytes=70000-".to_owned()), None]);
}

#[test]
fn a_checksum_mismatch_names_both_sums_and_deletes_the_file() {
    let (bench, body) = (Bench::new(), parcel());
    let wheel = wheel_of(&body);
    let server = Server::start(zip_of(&[("parcel/data", b"something else")]), vec![]);
    let error = bench.fetcher_from(&server.url).ensure(&wheel, &bench.cache(), &Silent).unwrap_err();
    let FetchError::Checksum { expected, ref found, .. } = error else { panic!("{error}") };
    assert_eq!(expected, wheel.builds[0].sha256);
    assert!(error.to_string().contains(found.as_str()) && error.to_string().contains(expected));
    assert!(!bench.cache().join(FILE).exists() && !bench.cache().join(format!("{FILE}.part")).exists());
    assert_eq!(butler_fetch::present(&wheel, &bench.cache()), None);
}

#[test]
fn without_pip_the_error_says_how_to_install_it_and_how_to_work_offline() {
    let (bench, body) = (Bench::new(), parcel());
    let error = Fetcher::with_path("").ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap_err().to_string();
    for hint in ["apt install python3-pip", "brew install uv", "--runtime-dir", "--model-dir", "--database-url"] {
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn without_pip_uv_runs_pip() {
    let (bench, body) = (Bench::new(), parcel());
    fs::write(bench.dir.path().join(FILE), &body).unwrap();
    // Called as `uv tool run --quiet pip download --quiet -d DIR …`.
    let script = format!(
        "#!/bin/sh\ncase \"$1 $2 $4 $5\" in\n'tool run pip --version') exit 0;;\n\
         'tool run pip download') exec /bin/cp '{}' \"$8\";;\nesac\nexit 1\n",
        bench.dir.path().join(FILE).display()
    );
    let program = bench.dir.path().join("bin/uv");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let fetcher = Fetcher::with_path(bench.dir.path().join("bin"));
    let dir = fetcher.ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap();
    assert!(dir.join("parcel/data").is_file());
}

#[test]
fn an_unreachable_index_is_a_network_error_and_keeps_the_partial_file() {
    let (bench, body) = (Bench::new(), parcel());
    let pip = "'-m install') echo \"WARNING: connection broken by 'NewConnectionError'\" >&2; exit 1;;";
    let part = bench.cache().join(format!("{FILE}.part"));
    fs::create_dir_all(bench.cache()).unwrap();
    fs::write(&part, &body[..1000]).unwrap();
    let error = bench.fetcher(pip).ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap_err();
    assert!(matches!(error, FetchError::Network { .. }), "{error}");
    assert_eq!(fs::read(part).unwrap(), &body[..1000]);
}

#[test]
fn a_pip_without_reports_downloads_the_file_itself() {
    let (bench, body) = (Bench::new(), parcel());
    let source = bench.dir.path().join("source.whl");
    fs::write(&source, &body).unwrap();
    let pip = format!(
        "'-m install') echo 'no such option: --report' >&2; exit 2;;\n'-m download') cp '{}' \"$6/{FILE}\";;",
        source.display()
    );
    let dir = bench.fetcher(&pip).ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap();
    assert!(dir.join("parcel/data").is_file());
}

#[test]
fn an_interrupted_unpack_is_repeated() {
    let (bench, body) = (Bench::new(), parcel());
    let wheel = wheel_of(&body);
    // The state after a killed unpack: the archive exists, and the directory exists without its marker.
    let half = bench.cache().join("parcel-1.0.tmp-unpack/parcel");
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("leftover"), "x").unwrap();
    fs::create_dir_all(bench.cache().join("parcel-1.0")).unwrap();
    fs::write(bench.cache().join(FILE), &body).unwrap();
    assert_eq!(butler_fetch::present(&wheel, &bench.cache()), None);
    // Without pip, so that nothing can be fetched again.
    let dir = Fetcher::with_path("").ensure(&wheel, &bench.cache(), &Silent).unwrap();
    assert!(dir.join("parcel/data").is_file() && !dir.join("parcel/leftover").exists());
    assert!(!bench.cache().join(FILE).exists(), "the archive is deleted after unpacking");
    assert_eq!(butler_fetch::present(&wheel, &bench.cache()), Some(dir));
}

#[test]
fn two_concurrent_fetches_download_once() {
    let (bench, body) = (Bench::new(), parcel());
    let server = Server::start(body.clone(), vec![]);
    let (wheel, fetcher, cache) = (wheel_of(&body), bench.fetcher_from(&server.url), bench.cache());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| fetcher.ensure(&wheel, &cache, &Silent).unwrap());
        }
    });
    assert_eq!(server.ranges().len(), 1);
}

#[test]
fn an_entry_that_leads_out_of_the_directory_is_rejected() {
    let bench = Bench::new();
    let body = zip_of(&[("../../evil", b"x")]);
    fs::create_dir_all(bench.cache()).unwrap();
    fs::write(bench.cache().join(FILE), &body).unwrap();
    let error = Fetcher::with_path("").ensure(&wheel_of(&body), &bench.cache(), &Silent).unwrap_err();
    assert!(matches!(error, FetchError::Archive { .. }), "{error}");
    assert!(!bench.dir.path().join("evil").exists());
}

#[test]
fn an_unwritable_cache_is_an_error_with_the_directory_and_a_remedy() {
    let body = parcel();
    // Even root cannot create a directory here.
    let cache = Path::new("/proc/butler-cache");
    let error = Fetcher::with_path("").ensure(&wheel_of(&body), cache, &Silent).unwrap_err().to_string();
    assert!(error.contains("/proc/butler-cache"), "{error}");
}

#[test]
fn an_unsupported_platform_is_an_error_with_its_name() {
    let wheel = Wheel { package: "parcel", version: "1.0", builds: &[] };
    let error = butler_fetch::ensure(&wheel, Path::new("unused"), &Silent).unwrap_err().to_string();
    assert!(error.contains(std::env::consts::ARCH) && error.contains("--runtime-dir"), "{error}");
}
