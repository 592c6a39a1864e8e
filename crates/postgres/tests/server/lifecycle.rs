//! First start, restart, sharing, and the required capabilities of the server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common::{Hold, psql, start, try_psql, up};

#[tokio::test]
async fn the_first_start_creates_a_cluster_and_a_restart_finds_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let server = start(dir.path()).await.unwrap();
    println!("first start {:?} with {}", begun.elapsed(), server.runtime());
    psql(&server, "CREATE TABLE t (v text); INSERT INTO t VALUES ('kept')");
    let begun = Instant::now();
    server.stop().await.unwrap();
    println!("stop {:?}", begun.elapsed());
    assert!(!up(dir.path()));
    let begun = Instant::now();
    let server = start(dir.path()).await.unwrap();
    println!("restart {:?}", begun.elapsed());
    assert_eq!(psql(&server, "SELECT v FROM t"), "kept");
    let begun = Instant::now();
    let second = start(dir.path()).await.unwrap();
    println!("attach {:?}", begun.elapsed());
    second.stop().await.unwrap();
    server.stop().await.unwrap();
}

#[tokio::test]
async fn shared_buffers_are_reloaded_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path()).await.unwrap();
    if psql(&server, "SHOW shared_preload_libraries").is_empty() {
        println!("left out: {} has no pg_prewarm", server.runtime());
        return server.stop().await.unwrap();
    }
    psql(&server, "CREATE EXTENSION pg_buffercache; CREATE TABLE t AS SELECT n FROM generate_series(1, 20000) AS n");
    server.stop().await.unwrap();
    let server = start(dir.path()).await.unwrap();
    let cached = "SELECT count(*) >= pg_relation_size('t') / 8192 FROM pg_buffercache
                  WHERE relfilenode = pg_relation_filenode('t') AND relforknumber = 0";
    let end = Instant::now() + Duration::from_secs(60);
    while psql(&server, cached) != "t" {
        assert!(Instant::now() < end, "nothing but this looked at the table, and it is not in memory");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn the_server_has_the_required_extensions_and_listens_only_on_the_socket() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path()).await.unwrap();
    psql(&server, r#"CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE EXTENSION "uuid-ossp""#);
    assert_eq!(psql(&server, "SELECT '[1,2]'::vector <-> '[1,3]'"), "1");
    assert_eq!(psql(&server, "SELECT lower('ÄÖÜ Σ'), upper('straße') LIKE 'STRA%'"), "äöü σ|t");
    assert_eq!(psql(&server, "SELECT to_tsvector('simple', 'ÜBER Größe')::text"), "'größe':2 'über':1");
    assert_eq!(psql(&server, "SELECT datcollate FROM pg_database WHERE datname = 'postgres'"), "C");
    // RFC 9562's example for version 3.
    assert_eq!(
        psql(&server, "SELECT uuid_generate_v3(uuid_ns_dns(), 'www.example.com')"),
        "5df41881-3aed-3515-88a7-2f4a814cf09e"
    );
    assert_eq!(psql(&server, "SELECT substr(uuid_generate_v4()::text, 15, 1), uuid_nil()"), format!("4|{}", nil()));
    for (setting, value) in [
        ("listen_addresses", ""),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("jit", "off"),
    ] {
        assert_eq!(psql(&server, &format!("SHOW {setting}")), value, "{setting}");
    }
    let wrong = server.url("postgres").replace("butler:", "butler:x");
    assert!(try_psql(server.bin_dir(), &wrong, "SELECT 1").unwrap_err().contains("password authentication failed"));
    let mode = |path: &str| dir.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("postgres.password"), mode("run"), mode("postgres"), mode("logs")], [0o600, 0o700, 0o700, 0o700]);
    server.stop().await.unwrap();
}

fn nil() -> String {
    "00000000-0000-0000-0000-000000000000".to_owned()
}

#[tokio::test]
async fn the_users_settings_take_precedence_and_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    let custom = dir.path().join("postgres/custom.conf");
    fs::write(&custom, "work_mem = '7MB'\n").unwrap();
    fs::set_permissions(&custom, fs::Permissions::from_mode(0o644)).unwrap();
    let server = start(dir.path()).await.unwrap();
    assert_eq!(psql(&server, "SHOW work_mem"), "7MB");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn two_handles_in_one_process_share_a_server_and_the_last_one_stops_it() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = tokio::join!(start(dir.path()), start(dir.path()));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.pid(), second.pid());
    first.stop().await.unwrap();
    assert!(up(dir.path()));
    assert_eq!(psql(&second, "SELECT 1"), "1");
    second.stop().await.unwrap();
    assert!(!up(dir.path()));
}

#[tokio::test]
async fn several_processes_share_a_server_and_the_last_one_stops_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_path_buf();
    // All start at the same time on an empty directory.
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Hold::start(&path))
        })
        .collect();
    let mut holds: Vec<Hold> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(holds.iter().all(|hold| hold.pid == holds[0].pid));
    let server = start(dir.path()).await.unwrap();
    assert_eq!(server.pid(), holds[0].pid);
    assert_eq!(try_psql(server.bin_dir(), &holds[2].url, "SELECT 1").unwrap(), "1");
    server.stop().await.unwrap();
    while let Some(hold) = holds.pop() {
        assert!(up(&path));
        assert!(hold.stop());
    }
    assert!(!up(&path));
}

#[tokio::test]
async fn other_tools_can_connect_with_the_url_of_the_running_server() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!up(dir.path()) && !up(&dir.path().join("nowhere")));
    let server = start(dir.path()).await.unwrap();
    let found = butler_postgres::running(dir.path()).unwrap().unwrap();
    assert_eq!((found.pid, found.url("postgres")), (server.pid(), server.url("postgres")));
    server.stop().await.unwrap();
}
