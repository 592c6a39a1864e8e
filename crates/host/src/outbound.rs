//! An HTTP client for LLM endpoints and OpenTelemetry collectors that uses the proxies configured in the environment.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::http::header::{PROXY_AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::http::{HeaderValue, Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tower_service::Service;

type Failure = Box<dyn Error + Send + Sync>;

/// An HTTP client for one URL.
pub struct Outbound {
    client: Client<HttpsConnector<Route>, Full<Bytes>>,
    /// The credentials for a forwarding proxy, sent with every request.
    authorization: Option<HeaderValue>,
}

impl Outbound {
    /// Uses the proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY select, but none for loopback addresses.
    pub fn to(url: &Uri) -> Result<Self, String> {
        let proxy = if is_loopback(url) { None } else { Matcher::from_env().intercept(url) };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let (route, authorization) = Route::through(proxy.as_ref(), url, http)?;
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("cannot be used, because this system has no root certificates: {error}"))?
            .https_or_http()
            .enable_http1()
            .wrap_connector(route);
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector), authorization })
    }

    pub fn request(&self, mut request: Request<Full<Bytes>>) -> ResponseFuture {
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        self.client.request(request)
    }
}

/// The answer to a request without a body.
pub struct Fetched {
    pub status: u16,
    pub www_authenticate: Option<String>,
    pub body: Bytes,
}

/// Larger than any answer that is fetched this way.
const MAX_FETCHED_BYTES: usize = 1024 * 1024;

/// Sends a request without a body and reads the answer.
pub async fn fetch(url: &str, method: &str) -> Result<Fetched, String> {
    let uri: Uri = url.parse().map_err(|error| format!("{url:?} is not a URL: {error}"))?;
    let request =
        Request::builder().method(method).uri(&uri).body(Full::default()).map_err(|error| error.to_string())?;
    let response = Outbound::to(&uri)?.request(request).await.map_err(|error| causes(&error))?;
    let header = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let (status, www_authenticate) = (response.status().as_u16(), header.map(str::to_owned));
    let body =
        Limited::new(response.into_body(), MAX_FETCHED_BYTES).collect().await.map_err(|error| error.to_string())?;
    Ok(Fetched { status, www_authenticate, body: body.to_bytes() })
}

/// The message of an error and of all its causes.
pub(crate) fn causes(error: &dyn Error) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

fn is_loopback(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// How to connect to the URL.
#[derive(Clone)]
enum Route {
    Direct(HttpConnector),
    /// Through a proxy that forwards each request, for plain HTTP.
    Forward(HttpConnector, Uri),
    /// Through a proxy that tunnels the connection with CONNECT, for HTTPS.
    Tunnel(Tunnel<HttpConnector>),
}

impl Route {
    fn through(
        proxy: Option<&Intercept>,
        url: &Uri,
        http: HttpConnector,
    ) -> Result<(Self, Option<HeaderValue>), String> {
        let Some(proxy) = proxy else { return Ok((Self::Direct(http), None)) };
        if proxy.uri().scheme_str() != Some("http") {
            // The error names the scheme only, because the URL of the proxy may contain a password.
            let scheme = proxy.uri().scheme_str().unwrap_or_default();
            return Err(format!("needs a {scheme:?} proxy, but only http:// proxies are supported"));
        }
        let authorization = proxy.basic_auth().cloned();
        if url.scheme_str() == Some("http") {
            return Ok((Self::Forward(http, proxy.uri().clone()), authorization));
        }
        let tunnel = Tunnel::new(proxy.uri().clone(), http);
        let tunnel = match authorization {
            Some(authorization) => tunnel.with_auth(authorization),
            None => tunnel,
        };
        Ok((Self::Tunnel(tunnel), None))
    }
}

impl Service<Uri> for Route {
    type Response = ProxyStream;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<ProxyStream, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        match self {
            Self::Direct(http) | Self::Forward(http, _) => http.poll_ready(cx).map_err(Into::into),
            Self::Tunnel(tunnel) => tunnel.poll_ready(cx).map_err(Into::into),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Self::Direct(http) => {
                let stream = http.call(to);
                Box::pin(async { Ok(ProxyStream { stream: stream.await?, forwarded: false }) })
            }
            Self::Forward(http, proxy) => {
                let stream = http.call(proxy.clone());
                Box::pin(async { Ok(ProxyStream { stream: stream.await?, forwarded: true }) })
            }
            Self::Tunnel(tunnel) => {
                let stream = tunnel.call(to);
                Box::pin(async { Ok(ProxyStream { stream: stream.await?, forwarded: false }) })
            }
        }
    }
}

/// A connection that knows whether a proxy forwards its requests. hyper then sends the absolute URL in the request
/// line.
struct ProxyStream {
    stream: TokioIo<TcpStream>,
    forwarded: bool,
}

impl Connection for ProxyStream {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.forwarded)
    }
}

impl hyper::rt::Read for ProxyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl hyper::rt::Write for ProxyStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
