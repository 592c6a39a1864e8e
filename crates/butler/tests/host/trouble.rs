//! Problems that a user can run into: each gives a clear error, a remedy and exit code 1.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use serde_json::json;

use crate::program::{Serving, butler, run, stderr, stdout};

fn serve(data_dir: &Path, args: &[&str]) -> Output {
    let start = ["serve", "--data-dir"].map(OsStr::new).into_iter().chain([data_dir.as_os_str()]);
    run(start.chain(args.iter().map(OsStr::new)))
}

#[track_caller]
fn refused(output: &Output, message: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(stdout(output), "", "nothing is ready");
    assert!(text.lines().any(|line| line.starts_with("error: ")), "{text}");
    for part in message {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn a_second_serve_on_the_same_data_directory_names_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let output = serve(&server.data_dir, &["--listen", "127.0.0.1:0"]);
    let (pid, address) = (server.pid().to_string(), server.address.to_string());
    refused(&output, &["a server is already running on", &pid, &address, "hint: ", "--data-dir"]);
    server.is_ready_soon();
}

#[test]
fn a_second_serve_on_the_same_port_names_the_first_and_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let output = serve(&dir.path().join("other"), &["--listen", &server.address.to_string()]);
    refused(
        &output,
        &[&format!("the address {} is in use", server.address), &server.pid().to_string(), "hint: ", "--listen"],
    );
}

#[test]
fn a_port_in_use_by_another_program_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&serve(dir.path(), &["--listen", &address]), &[&format!("the address {address} is in use\n"), "--listen"]);
}

/// A fake PostgreSQL that accepts every login and reports the given version.
fn old_postgres(version: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ann@{}/memory", listener.local_addr().unwrap());
    let message = |kind: u8, body: &[u8]| {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    };
    let answer = [
        message(b'R', &0_u32.to_be_bytes()),
        message(b'S', format!("server_version\0{version}\0").as_bytes()),
        message(b'K', &[0; 8]),
        message(b'Z', b"I"),
    ]
    .concat();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = answer.clone();
            std::thread::spawn(move || -> std::io::Result<()> {
                loop {
                    let mut head = [0; 8];
                    stream.read_exact(&mut head)?;
                    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
                    let mut rest = vec![0; length - head.len()];
                    stream.read_exact(&mut rest)?;
                    // Protocol 3.0 starts a session. Anything before it is a request for encryption.
                    if head[4..] != [0, 3, 0, 0] {
                        stream.write_all(b"N")?;
                        continue;
                    }
                    stream.write_all(&answer)?;
                    std::io::copy(&mut stream, &mut std::io::sink())?;
                    return Ok(());
                }
            });
        }
    });
    url
}

#[test]
fn a_postgresql_older_than_14_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    for version in ["13.18", "9.6.24"] {
        let output = serve(dir.path(), &["--listen", "127.0.0.1:0", "--database-url", &old_postgres(version)]);
        let message = format!("PostgreSQL {version} is too old: version 14 or newer is required");
        refused(&output, &[&message, "hint: upgrade the server"]);
    }
}

#[test]
fn an_unreachable_database_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let output = serve(dir.path(), &["--listen", "127.0.0.1:0", "--database-url", "postgres://u:s3cret@127.0.0.1:1/x"]);
    refused(&output, &["cannot reach PostgreSQL at 127.0.0.1:1", "hint: "]);
    assert!(!stderr(&output).contains("s3cret"), "{}", stderr(&output));
}

#[test]
fn a_wrong_password_and_a_missing_database_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), server.data_dir.as_os_str()]);
    let url = stdout(&url).trim().to_owned();
    let password = url.split(':').nth(2).and_then(|rest| rest.split('@').next()).unwrap().to_owned();
    let other = dir.path().join("other");
    let wrong = serve(&other, &["--listen", "127.0.0.1:0", "--database-url", &url.replace(&password, "wr0ng")]);
    refused(&wrong, &["refused the login of butler", "hint: "]);
    let gone = serve(&other, &["--listen", "127.0.0.1:0", "--database-url", &url.replace("/general?", "/nothing?")]);
    refused(&gone, &["there is no database \"nothing\"", "hint: create it: createdb nothing"]);
    assert!(!stderr(&gone).contains(&password), "{}", stderr(&gone));
}

#[test]
fn a_custom_database_url_replaces_the_private_postgresql() {
    let dir = tempfile::tempdir().unwrap();
    let first = Serving::on(&dir.path().join("data"));
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), first.data_dir.as_os_str()]);
    let url = stdout(&url).trim().to_owned();
    let second = Serving::with(&dir.path().join("other"), &["--database-url".as_ref(), url.as_ref()]);
    assert!(!second.data_dir.join("postgres").exists(), "no private server was created");
    second.mcp().store_episode("through the custom URL").unwrap();
    assert_eq!(first.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn a_read_only_data_directory_is_an_error() {
    // root can write everywhere, so the program runs as another user, from a directory that this user can enter.
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let locked = dir.path().join("locked");
    std::fs::DirBuilder::new().mode(0o555).create(&locked).unwrap();
    let program = dir.path().join("butler");
    std::fs::copy(env!("CARGO_BIN_EXE_butler"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(locked.join("data")).env("HOME", dir.path());
    if rustix::process::getuid().is_root() {
        command.uid(65534).gid(65534);
    }
    refused(
        &command.output().unwrap(),
        &["cannot create the data directory", "Permission denied", "hint: make it writable"],
    );
}

#[test]
fn root_and_an_ordinary_user_both_run_the_whole_server() {
    // All other tests run as the current user. If this is root, an ordinary user is tested here.
    if !rustix::process::getuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(butler_fetch::default_cache_dir())
        .arg(home.join("cache"))
        .status();
    std::fs::copy(env!("CARGO_BIN_EXE_butler"), home.join("butler")).unwrap();
    let owned = std::process::Command::new("chown").args(["-R", "65534:65534"]).arg(home).status();
    assert!(copied.unwrap().success() && owned.unwrap().success());
    let output = std::process::Command::new(home.join("butler"))
        .args(["doctor", "--json", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(home.join("data"))
        .env("BUTLER_CACHE_DIR", home.join("cache"))
        .env("HOME", home)
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(report["healthy"], true, "{report:#}");
    assert!(report.to_string().contains("memory_stats called"), "{report:#}");
}

#[test]
fn a_data_directory_that_is_a_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    refused(
        &serve(&file, &["--listen", "127.0.0.1:0"]),
        &["cannot create the data directory", "hint: a file with this name exists"],
    );
}

#[test]
fn a_data_path_with_spaces_and_non_ascii_letters_works() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::first(&dir.path().join("Jörg Müller's données 日本"));
    server.mcp().store_episode("grüße").unwrap();
    let (status, _) = server.stop();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_truncated_model_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("model");
    std::fs::create_dir(&model).unwrap();
    std::fs::write(model.join("model.safetensors"), b"cut").unwrap();
    std::fs::write(model.join("tokenizer.json"), b"{}").unwrap();
    let output = butler()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path().join("data"))
        .arg("--model-dir")
        .arg(&model)
        .output()
        .unwrap();
    refused(&output, &["model.safetensors"]);
    let doctor = butler()
        .args(["doctor", "--json", "--data-dir"])
        .arg(dir.path().join("data"))
        .arg("--model-dir")
        .arg(&model)
        .output()
        .unwrap();
    assert_eq!(doctor.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let model = checks.iter().find(|check| check["name"] == "model").unwrap();
    assert_eq!(model["verdict"], "failed", "{report:#}");
}
