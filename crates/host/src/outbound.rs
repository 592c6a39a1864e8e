//! HTTP to other machines, through the proxy that the environment names: for the LLM's endpoints and for collectors.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::http::header::PROXY_AUTHORIZATION;
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

/// A client for one address.
pub struct Outbound {
    client: Client<HttpsConnector<Route>, Full<Bytes>>,
    /// For a proxy that is told with every request whom it passes on.
    authorization: Option<HeaderValue>,
}

impl Outbound {
    /// As HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say. Nothing of this machine goes through a proxy.
    pub fn to(url: &Uri) -> Result<Self, String> {
        let proxy = if is_here(url) { None } else { Matcher::from_env().intercept(url) };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let (route, authorization) = Route::through(proxy.as_ref(), url, http)?;
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("cannot be used, since this system has no certificates: {error}"))?
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

fn is_here(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// How a connection comes about.
#[derive(Clone)]
enum Route {
    Direct(HttpConnector),
    /// The proxy reads each request and passes it on: plain HTTP.
    Forward(HttpConnector, Uri),
    /// The proxy connects and passes bytes on: HTTPS.
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
            // Not the proxy itself: it may hold a password.
            let scheme = proxy.uri().scheme_str().unwrap_or_default();
            return Err(format!("would go through a proxy of the kind {scheme:?}, and only http:// proxies are known"));
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
    type Response = Wire;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Wire, Failure>>;

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
                Box::pin(async { Ok(Wire { stream: stream.await?, forwarded: false }) })
            }
            Self::Forward(http, proxy) => {
                let stream = http.call(proxy.clone());
                Box::pin(async { Ok(Wire { stream: stream.await?, forwarded: true }) })
            }
            Self::Tunnel(tunnel) => {
                let stream = tunnel.call(to);
                Box::pin(async { Ok(Wire { stream: stream.await?, forwarded: false }) })
            }
        }
    }
}

/// A connection that knows whether a proxy reads what it carries: its requests then name the whole address.
struct Wire {
    stream: TokioIo<TcpStream>,
    forwarded: bool,
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.forwarded)
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl hyper::rt::Write for Wire {
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
