//! Checks tokens and TLS.

use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_host::config::{self, ButlerConfig, ServerSection};
use butler_host::instance::Instance;
use butler_server::http::tls::CertificateFiles;
use butler_store::StoreError;
use butler_store::oauth;
use butler_store::tokens::{self, TokenRow};
use chrono::TimeDelta;

use super::check::Check;

const TOKENS: &str = "tokens";
const TLS: &str = "tls";
/// Warn about tokens that expire within this time, early enough to replace them.
const EXPIRES_SOON: TimeDelta = TimeDelta::days(7);

pub async fn tokens(butler: &Butler, now: Timestamp) -> Option<Check> {
    let database = butler.database()?;
    let read: Result<Vec<TokenRow>, StoreError> = async {
        let mut conn = database.owner().await?;
        let grants = oauth::list(&mut conn).await?;
        let mut rows = tokens::list(&mut conn).await?;
        // The access tokens of OAuth clients expire every hour, and the clients renew them.
        rows.retain(|row| !grants.iter().any(|grant| grant.id == row.id));
        Ok(rows)
    }
    .await;
    Some(match read {
        Ok(rows) => assess(butler, &rows, now),
        Err(error) => {
            let remedy = error.hint().unwrap_or_else(|| "see the server's log".to_owned());
            Check::failed(TOKENS, format!("{}: {error}", butler.name), remedy)
        }
    })
}

fn assess(butler: &Butler, rows: &[TokenRow], now: Timestamp) -> Check {
    let name = &butler.name;
    if rows.is_empty() {
        return Check::passed(TOKENS, format!("{name}: no tokens, so the server accepts only clients on this machine"));
    }
    let usable: Vec<&TokenRow> = rows
        .iter()
        .filter(|row| row.revoked_at.is_none() && row.expires_at.is_none_or(|expires| expires > now))
        .collect();
    let detail = format!("{name}: {} of {} usable", usable.len(), rows.len());
    let create = "create a new one: butler token create --tenant NAME";
    if usable.is_empty() {
        return Check::warned(TOKENS, format!("{detail}, so no client can connect"), create);
    }
    let expiring =
        usable.iter().filter(|row| row.expires_at.is_some_and(|expires| expires - now < EXPIRES_SOON)).count();
    if expiring > 0 {
        return Check::warned(
            TOKENS,
            format!("{detail}, {expiring} expiring within {} days", EXPIRES_SOON.num_days()),
            create,
        );
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
        Ok(None) => Check::skipped(TLS, "no certificate configured (loopback does not need one)"),
        Ok(Some(_)) => Check::passed(TLS, "the certificate and its key match"),
        Err(error) => Check::from_error(TLS, &error),
    }
}
