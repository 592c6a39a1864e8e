//! Chooses among the compressed copies of a file by `Accept-Encoding`.

use axum::http::{HeaderMap, HeaderName, header};

use super::files::File;

/// The smallest copy that the client accepts, and its content encoding; `None` for the uncompressed copy.
pub fn choose(file: &'static File, headers: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
    let smaller = [(file.brotli, "br"), (file.gzip, "gzip")];
    let found =
        smaller.into_iter().find_map(|(copy, name)| copy.filter(|_| accepts(headers, name)).map(|it| (it, name)));
    found.map_or((file.plain, None), |(copy, name)| (copy, Some(name)))
}

fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    listed(headers, header::ACCEPT_ENCODING).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        // `br;q=0` excludes the encoding.
        let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse().is_ok_and(|q: f32| q <= 0.0)));
        named && !refused
    })
}

/// The items of a comma-separated header, which may be repeated.
pub fn listed(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(accepted: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accepted.parse().unwrap());
        choose(super::super::files::index().unwrap(), &headers).1
    }

    #[test]
    fn the_smallest_accepted_copy_is_chosen() {
        assert_eq!(named("gzip, deflate, br"), Some("br"));
        assert_eq!(named("gzip;q=0.5, br;q=0"), Some("gzip"));
        assert_eq!(named("GZIP"), Some("gzip"));
        assert_eq!(named("identity"), None);
        assert_eq!(named("brotli"), None);
    }
}
