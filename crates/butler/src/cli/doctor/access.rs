//! Who may talk to the server, and whether others can listen.

use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_host::config::{self, ButlerConfig, ServerSection};
use butler_host::instance::Instance;
use butler_server::http::tls::CertificateFiles;
use butler_store::StoreError;
use butler_store::tokens::{self, TokenRow};
use chrono::TimeDelta;

use super::check::Check;

const TOKENS: &str = "tokens";
const TLS: &str = "tls";
/// Time enough to make a new one.
const SOON: TimeDelta = TimeDelta::days(7);

pub async fn tokens(butler: &Butler, now: Timestamp) -> Option<Check> {
    let database = butler.database()?;
    let read: Result<Vec<TokenRow>, StoreError> = async { tokens::list(&mut *database.owner().await?).await }.await;
    Some(match read {
        Ok(rows) => judge(butler, &rows, now),
        Err(error) => {
            let remedy = error.hint().unwrap_or_else(|| "look into the server's log".to_owned());
            Check::failed(TOKENS, format!("{}: {error}", butler.name), remedy)
        }
    })
}

fn judge(butler: &Butler, rows: &[TokenRow], now: Timestamp) -> Check {
    let name = &butler.name;
    if rows.is_empty() {
        return Check::passed(TOKENS, format!("{name}: none, so only programs of this machine are let in"));
    }
    let usable: Vec<&TokenRow> = rows
        .iter()
        .filter(|row| row.revoked_at.is_none() && row.expires_at.is_none_or(|expires| expires > now))
        .collect();
    let detail = format!("{name}: {} usable of {}", usable.len(), rows.len());
    let create = "make a new one: butler token create --tenant NAME";
    if usable.is_empty() {
        return Check::warned(TOKENS, format!("{detail}: clients are locked out"), create);
    }
    let ending = usable.iter().filter(|row| row.expires_at.is_some_and(|expires| expires - now < SOON)).count();
    if ending > 0 {
        return Check::warned(TOKENS, format!("{detail}, {ending} of them only for days"), create);
    }
    Check::passed(TOKENS, detail)
}

pub fn tls(butlers: &[ButlerConfig], serving: Option<&Instance>) -> Check {
    if let Some(server) = serving.filter(|server| server.url.starts_with("https://")) {
        return Check::passed(TLS, format!("served at {}", server.url));
    }
    let server: ServerSection = match config::server(butlers) {
        Ok(server) => server,
        Err(error) => return Check::from_error(TLS, &error.into()),
    };
    match CertificateFiles::of(server.tls_cert, server.tls_key)
        .and_then(|files| files.map(|files| files.load()).transpose())
    {
        Ok(None) => Check::skipped(TLS, "no certificate is configured; loopback needs none"),
        Ok(Some(_)) => Check::passed(TLS, "the certificate and its key fit together"),
        Err(error) => Check::from_error(TLS, &error),
    }
}
