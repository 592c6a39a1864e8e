//! Masks passwords before text is printed or logged.

/// Replaces the password in every URL of the text: `postgres://user:***@host/db`.
pub fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        masked.push_str(before);
        let authority =
            after.find(|c: char| c == '/' || c == '"' || c == '\'' || c.is_whitespace()).unwrap_or(after.len());
        // The last @ ends the credentials, because a password that is not percent-encoded may contain one.
        let hidden = after[..authority].rfind('@').and_then(|at| Some((after[..at].find(':')?, at)));
        rest = match hidden {
            Some((colon, at)) => {
                masked.push_str(&after[..=colon]);
                masked.push_str("***");
                &after[at..]
            }
            None => after,
        };
    }
    masked.push_str(rest);
    mask_parameter(&masked)
}

/// libpq also accepts the password as a parameter: `?password=…`.
fn mask_parameter(text: &str) -> String {
    const KEY: &str = "password=";
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(KEY) {
        let (before, after) = rest.split_at(at + KEY.len());
        masked.push_str(before);
        masked.push_str("***");
        let end = after.find(|c: char| c == '&' || c == '"' || c == '\'' || c.is_whitespace()).unwrap_or(after.len());
        rest = &after[end..];
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn the_password_of_a_url_is_masked() {
        assert_eq!(mask("postgres://ann:s3cret@db.example/x"), "postgres://ann:***@db.example/x");
        assert_eq!(mask("url = \"postgres://ann:a@b@db/x\" # why"), "url = \"postgres://ann:***@db/x\" # why");
        assert_eq!(
            mask("postgres:///x?host=/run&password=s3cret&user=u"),
            "postgres:///x?host=/run&password=***&user=u"
        );
    }

    #[test]
    fn text_without_a_password_is_unchanged() {
        for text in ["postgres://db.example/x", "postgres://ann@db/x", "http://127.0.0.1:8150", "no url", ""] {
            assert_eq!(mask(text), text);
        }
    }
}
