//! OAuth as a client and a browser see it: the real program, over HTTP on loopback.

mod attacks;
mod connectors;
mod flow;
mod refresh;
mod registration;
mod sdks;

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use butler_host::oauth::challenge_of;
use serde_json::{Value, json};

use crate::program::{Answer, MCP_HEADERS, Mcp, Serving, request, run, stderr, stdout};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const CALLBACK: &str = "http://127.0.0.1:9/callback";
/// A verifier of PKCE is a random word of at least 43 characters.
const VERIFIER: &str = "a-verifier-that-is-long-enough-for-the-specification";

/// A server with a public URL on loopback.
pub struct Login {
    pub server: Serving,
    pub url: String,
    /// `--config` or `--roster`.
    flag: &'static str,
    config: PathBuf,
}

impl Login {
    /// Starts a server with one butler.
    pub fn start(dir: &Path) -> Self {
        Self::set(dir, "")
    }

    /// Starts a server with one butler and these further lines in `[server]`.
    pub fn set(dir: &Path, lines: &str) -> Self {
        Self::configured(dir, "--config", |text| {
            let config = dir.join("butler.toml");
            std::fs::write(&config, format!("{text}{lines}")).unwrap();
            config
        })
    }

    /// Starts a server with these butlers.
    pub fn with(dir: &Path, butlers: &[&str]) -> Self {
        Self::configured(dir, "--roster", |text| {
            for name in butlers {
                let folder = dir.join("roster").join(name);
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join("butler.toml"), text).unwrap();
            }
            dir.join("roster")
        })
    }

    fn configured(dir: &Path, flag: &'static str, write: impl FnOnce(&str) -> PathBuf) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("http://127.0.0.1:{port}");
        let config = write(&format!("[server]\npublic_url = \"{url}\"\n"));
        let listen = format!("127.0.0.1:{port}");
        let args = [OsStr::new(flag), config.as_os_str(), OsStr::new("--listen"), OsStr::new(&listen)];
        let server = Serving::with(&dir.join("data"), &args);
        Self { server, url, flag, config }
    }

    /// Runs a command with `--json` on the same data.
    pub fn butler(&self, args: &[&str]) -> Value {
        let place = [
            OsStr::new("--data-dir"),
            self.server.data_dir.as_os_str(),
            OsStr::new(self.flag),
            self.config.as_os_str(),
        ];
        let output = run(args.iter().map(OsStr::new).chain(place).chain([OsStr::new("--json")]));
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}{}", stderr(&output), stdout(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        request(self.server.address, "GET", path, headers, b"")
    }

    /// Sends a form, as a browser or a client does.
    pub fn post(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        let body = form.extend_pairs(fields).finish();
        request(self.server.address, "POST", path, &[&[FORM], headers].concat(), body.as_bytes())
    }

    pub fn register(&self, redirects: &[&str]) -> Answer {
        let body = json!({"client_name": "A client", "redirect_uris": redirects}).to_string();
        request(self.server.address, "POST", "/oauth/register", &MCP_HEADERS, body.as_bytes())
    }

    /// A registered client's id.
    pub fn client(&self) -> String {
        let answer = self.register(&[CALLBACK]);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    /// Signs a browser in. Returns its cookie.
    pub fn sign_in(&self, args: &[&str]) -> String {
        let link = self.butler(&[&["login-link"], args].concat());
        let link = link["url"].as_str().unwrap().strip_prefix(&self.url).unwrap().to_owned();
        let shown = self.get(&link, &[]);
        assert_eq!(shown.status, 200, "{}", shown.text());
        let (path, code) = link.split_once("?code=").unwrap();
        let answer = self.post(path, &[("code", code)], &[]);
        assert_eq!(answer.status, 200, "{}", answer.text());
        header(&answer, "set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// The address of an authorization request.
    pub fn authorize(&self, client: &str, change: &[(&str, &str)]) -> String {
        let (challenge, resource) = (challenge_of(VERIFIER), format!("{}/mcp", self.url));
        let mut fields = vec![
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", CALLBACK),
            ("state", "a state"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
        ];
        for (name, value) in change {
            fields.retain(|(known, _)| known != name);
            fields.extend((!value.is_empty()).then_some((*name, *value)));
        }
        let mut form = url::form_urlencoded::Serializer::new(String::from("/oauth/authorize?"));
        for (name, value) in fields {
            form.append_pair(name, value);
        }
        form.finish().replacen("?&", "?", 1)
    }

    /// Allows what the page at this address shows.
    pub fn allow(&self, address: &str, cookie: &str) -> Answer {
        let page = self.get(address, &[("Cookie", cookie)]);
        assert_eq!(page.status, 200, "{}", page.text());
        let csrf = hidden(&page.text(), "csrf");
        let query = address.split_once('?').unwrap().1;
        let fields =
            [("request", query), ("csrf", &csrf), ("decision", "allow"), ("right", "read"), ("right", "write")];
        self.post("/oauth/authorize", &fields, &[("Cookie", cookie), ("Origin", &self.url)])
    }

    /// A code for a client that a person just allowed.
    pub fn code(&self, client: &str, cookie: &str) -> String {
        let answer = self.allow(&self.authorize(client, &[]), cookie);
        parameter(&answer, "code")
    }

    pub fn exchange(&self, client: &str, code: &str, change: &[(&str, &str)]) -> Answer {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
        ];
        for (name, value) in change {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        self.post("/oauth/token", &fields, &[])
    }

    pub fn refresh(&self, client: &str, token: &Value) -> Answer {
        let fields = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", text(token))];
        self.post("/oauth/token", &fields, &[])
    }

    pub fn mcp(&self, token: &Value) -> Mcp {
        self.server.mcp().with(text(token))
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

pub fn header(answer: &Answer, name: &str) -> Option<String> {
    let mut lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// A parameter of the address that a browser is sent to.
#[track_caller]
pub fn parameter(answer: &Answer, name: &str) -> String {
    assert_eq!(answer.status, 303, "{}\n{}", answer.head, answer.text());
    let to = header(answer, "location").unwrap();
    let url = url::Url::parse(&to).unwrap();
    let found = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    found.unwrap_or_else(|| panic!("no {name} in {to}"))
}

fn hidden(page: &str, name: &str) -> String {
    let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no {name}: {page}")).1;
    rest.split('"').next().unwrap().to_owned()
}
