//! Checks the chain that an OAuth client follows, from outside in: through `public_url`, as the client would.

use std::time::Duration;

use butler_host::host::Host;
use butler_host::instance::Instance;
use butler_host::outbound::fetch;
use serde_json::Value;

use super::check::Check;

const OAUTH: &str = "oauth";
/// A tunnel or proxy answers faster than this.
const TIMEOUT: Duration = Duration::from_secs(10);
const PROXY: &str =
    "let public_url lead to this server: check DNS, the proxy or tunnel, and that it forwards every path";

pub async fn check(host: &Host, serving: Option<&Instance>) -> Check {
    let Some(url) = host.server().public_url() else {
        return Check::skipped(OAUTH, "no public_url, so clients need a token");
    };
    if serving.is_none() {
        return Check::skipped(OAUTH, format!("no server is running, so {url} was not tried"));
    }
    match tokio::time::timeout(TIMEOUT, follow(url)).await {
        Ok(Ok(())) => Check::passed(OAUTH, format!("clients can log in through {url}")),
        Ok(Err(problem)) => Check::failed(OAUTH, problem, PROXY),
        Err(_) => Check::failed(OAUTH, format!("{url} did not answer in {} s", TIMEOUT.as_secs()), PROXY),
    }
}

/// Takes the steps of a client. The error is the first step that fails.
async fn follow(url: &str) -> Result<(), String> {
    let endpoint = format!("{url}/mcp");
    let refused = fetch(&endpoint, "POST").await.map_err(|error| format!("cannot reach {endpoint}: {error}"))?;
    if refused.status != 401 {
        return Err(format!(
            "{endpoint} answered a caller without a token with status {} instead of 401",
            refused.status
        ));
    }
    let metadata = format!("{url}/.well-known/oauth-protected-resource/mcp");
    let challenge = refused.www_authenticate.unwrap_or_default();
    if !challenge.contains(&format!("resource_metadata=\"{metadata}\"")) {
        return Err(format!("the 401 of {endpoint} does not name {metadata}"));
    }
    let resource = read(&metadata).await?;
    if resource["resource"] != endpoint || resource["authorization_servers"][0] != url {
        return Err(format!("{metadata} describes another server: {resource}"));
    }
    let address = format!("{url}/.well-known/oauth-authorization-server");
    let server = read(&address).await?;
    if server["issuer"] != url {
        return Err(format!("{address} has the issuer {} instead of {url:?}", server["issuer"]));
    }
    Ok(())
}

async fn read(address: &str) -> Result<Value, String> {
    let answer = fetch(address, "GET").await.map_err(|error| format!("cannot reach {address}: {error}"))?;
    if answer.status != 200 {
        return Err(format!("{address} answered with status {}", answer.status));
    }
    serde_json::from_slice(&answer.body).map_err(|error| format!("{address} is not JSON: {error}"))
}
