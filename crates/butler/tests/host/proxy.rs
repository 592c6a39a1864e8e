//! Requests to the LLM use the proxy from the environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, mpsc};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::program::{butler, stderr, stdout};

const ANSWER: &str = "the answer of the endpoint";

fn tls() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/tls")
}

/// Reads a request and returns its head.
fn read(stream: &mut impl Read) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head
}

fn answer(stream: &mut impl Write) {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}]});
    let body = body.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let _ = stream.flush();
}

/// A proxy that also plays the endpoint. It reports the head of each request and, for a tunnel, the head inside it.
fn proxy() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, heads) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let head = read(&mut stream);
            let tunnel = head.starts_with("CONNECT ");
            sender.send(head).unwrap();
            if !tunnel {
                answer(&mut stream);
                continue;
            }
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            let mut stream = secure(stream);
            sender.send(read(&mut stream)).unwrap();
            answer(&mut stream);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    (address, heads)
}

fn secure(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let chain = CertificateDer::pem_file_iter(tls().join("cert.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(tls().join("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
}

/// Runs one session without memory, so that only the endpoint gets a request.
fn run_session(dir: &Path, base_url: &str, variables: &[(&str, &str)]) -> Output {
    let config = dir.join("butler.toml");
    let toml = format!(
        "[butler.runtime]\ntype = \"openai\"\nbase_url = \"{base_url}\"\nmodel = \"m\"\napi_key_env = \"LLM_KEY\"\n\
         timeout_s = 20\n[butler.session]\nmemory_timeout_s = 0.1\n[modules.memory]\nenabled = false\n"
    );
    std::fs::write(&config, toml).unwrap();
    let mut command = butler();
    for name in
        ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("LLM_KEY", "k-1").env("SSL_CERT_FILE", tls().join("cert.pem")).envs(variables.iter().copied());
    command.args(["run", "hello", "--quiet", "--config"]).arg(&config).arg("--data-dir").arg(dir.join("data"));
    command.output().unwrap()
}

#[test]
fn https_is_tunnelled_http_is_forwarded_and_loopback_bypasses_the_proxy() {
    let dir = tempfile::tempdir().unwrap();
    let (address, heads) = proxy();
    let with_password = format!("http://ann:s3cret@{address}");

    let output = run_session(dir.path(), "https://memory.example.com/v1", &[("HTTPS_PROXY", &with_password)]);
    assert!(stdout(&output).contains(ANSWER), "{}", stderr(&output));
    let (connect, inside) = (heads.recv().unwrap(), heads.recv().unwrap());
    assert!(connect.starts_with("CONNECT memory.example.com:443 HTTP/1.1"), "{connect}");
    assert!(connect.to_lowercase().contains("proxy-authorization: basic"), "{connect}");
    assert!(!connect.contains("k-1"), "the proxy does not get the API key: {connect}");
    assert!(inside.starts_with("POST /v1/chat/completions") && inside.contains("Bearer k-1"), "{inside}");
    assert!(!inside.to_lowercase().contains("proxy-authorization"), "{inside}");

    let output = run_session(dir.path(), "http://llm.example/v1", &[("HTTP_PROXY", &with_password)]);
    assert!(stdout(&output).contains(ANSWER), "{}", stderr(&output));
    let forwarded = heads.recv().unwrap();
    assert!(forwarded.starts_with("POST http://llm.example/v1/chat/completions"), "{forwarded}");
    assert!(forwarded.to_lowercase().contains("proxy-authorization: basic"), "{forwarded}");

    // The endpoint is on loopback, so the unreachable proxy in the variable is not used.
    let unreachable_proxy = [("HTTP_PROXY", "http://127.0.0.1:9")];
    let output = run_session(dir.path(), &format!("http://{address}/v1"), &unreachable_proxy);
    assert!(stdout(&output).contains(ANSWER), "{}", stderr(&output));
    assert!(heads.recv().unwrap().starts_with("POST /v1/chat/completions"));

    let output =
        run_session(dir.path(), "https://memory.example.com/v1", &[("HTTPS_PROXY", "socks5://ann:s3cret@127.0.0.1:9")]);
    let error = stderr(&output);
    assert!(!output.status.success() && error.contains("only http:// proxies"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}
