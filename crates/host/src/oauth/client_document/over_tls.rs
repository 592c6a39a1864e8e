//! Documents from a real host with a certificate, on loopback.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};

use butler_domain::{Clock, SystemClock};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::network::{Lookup, Network};
use super::{ClientDocuments, MAX_BYTES};

/// The name in the certificate of the tests.
const ID: &str = "https://memory.example.com/client.json";
const DOCUMENT: &str = r#"{"client_id": "https://memory.example.com/client.json", "client_name": "A client",
    "redirect_uris": ["https://memory.example.com/callback"]}"#;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../butler/tests/host/tls").join(name)
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file("cert.pem")).unwrap()
}

fn trusting(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    certificates.into_iter().for_each(|certificate| roots.add(certificate).unwrap());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_root_certificates(roots).with_no_client_auth()
}

fn trusted() -> io::Result<ClientConfig> {
    Ok(trusting([certificate()]))
}

fn distrusted() -> io::Result<ClientConfig> {
    Ok(trusting([]))
}

/// A host that gives every request the same response. It reports the head of each request.
fn host(status: &str, body: &str) -> (SocketAddr, mpsc::Receiver<String>) {
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], key)
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    let response = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let (sender, heads) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            // A client that does not trust the certificate ends the handshake.
            while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
            let mut stream = reader.into_inner();
            let _ = stream.write_all(response.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
            let _ = sender.send(head);
        }
    });
    (address, heads)
}

fn documents(address: SocketAddr, tls: fn() -> io::Result<ClientConfig>) -> ClientDocuments {
    let lookup: Lookup = Arc::new(move |_| Box::pin(async move { Ok(vec![address]) }));
    let network = Network { lookup, may_ask: |ip| ip.is_loopback(), tls };
    ClientDocuments { network, kept: Mutex::default() }
}

#[tokio::test]
async fn a_document_is_fetched_over_tls_once() {
    let (address, heads) = host("200 OK", DOCUMENT);
    let documents = documents(address, trusted);
    for _ in 0..2 {
        let client = documents.client(ID, SystemClock.now()).await.unwrap();
        assert_eq!((client.id.as_str(), client.name.as_str()), (ID, "A client"));
        assert_eq!(client.redirect_uris, ["https://memory.example.com/callback"]);
    }
    let head = heads.recv().unwrap().to_lowercase();
    assert!(head.starts_with("get /client.json http/1.1") && head.contains("host: memory.example.com"), "{head}");
    assert!(!head.contains("cookie") && !head.contains("authorization"), "{head}");
    assert!(heads.try_recv().is_err(), "the second time it was still known");
}

#[tokio::test]
async fn a_host_without_a_trusted_certificate_of_its_name_is_not_asked() {
    let (address, heads) = host("200 OK", DOCUMENT);
    for (id, tls) in [(ID, distrusted as fn() -> _), ("https://other.example.com/client.json", trusted)] {
        let error = documents(address, tls).client(id, SystemClock.now()).await.unwrap_err().to_string();
        assert!(error.contains("certificate"), "{id}: {error}");
        assert_eq!(heads.recv().unwrap(), "", "{id}: no request was sent");
    }
}

#[tokio::test]
async fn redirects_and_long_documents_are_refused() {
    let long = " ".repeat(MAX_BYTES + 1);
    let moved = "302 Found\r\nlocation: https://memory.example.com/other.json";
    for (status, body, problem) in
        [(moved, "", "status 302"), ("200 OK", long.as_str(), "cannot be read"), ("200 OK", "{}", "cannot be read")]
    {
        let (address, heads) = host(status, body);
        let error = documents(address, trusted).client(ID, SystemClock.now()).await.unwrap_err().to_string();
        assert!(error.contains(problem), "{status}: {error}");
        heads.recv().unwrap();
        assert!(heads.try_recv().is_err(), "{status}: nothing else was asked for");
    }
}

/// The members that the documents of claude.ai, Claude Code and ChatGPT have.
#[tokio::test]
async fn the_documents_of_hosted_clients_are_accepted() {
    for (name, method, redirects) in [
        ("Claude", r#""none""#, r#"["https://claude.ai/api/mcp/auth_callback"]"#),
        ("Claude Code", r#""none""#, r#"["http://localhost/callback", "http://127.0.0.1/callback"]"#),
        (
            "ChatGPT",
            r#""private_key_jwt", "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"]"#,
            r#"["https://chatgpt.com/connector_platform_oauth_redirect"]"#,
        ),
    ] {
        let document = format!(
            r#"{{"client_id": "{ID}", "client_name": "{name}", "client_uri": "https://memory.example.com",
                "logo_uri": "https://memory.example.com/logo.png", "redirect_uris": {redirects},
                "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
                "token_endpoint_auth_method": {method}}}"#
        );
        let (address, _heads) = host("200 OK", &document);
        let client = documents(address, trusted).client(ID, SystemClock.now()).await.unwrap();
        assert_eq!(client.name, name);
    }
}
