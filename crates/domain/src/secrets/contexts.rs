//! Values that only the words around them show to be secret.

use super::randomness::{is_basic_login, is_key, is_password, is_token, is_url_password};
use super::rule::{Reach, Rule, Start, is_token_byte};

/// A suffix of the name such as `_PROD`, and a value in quotes or one that ends where code would go on otherwise.
macro_rules! assigned_token {
    () => {
        concat!(
            r"(?:_[A-Za-z0-9]{1,12}){0,2}<assign>(?:",
            r#"\\?["'`]([^\s"'`\\]{16,400})\\?["'`]|"#,
            r#"([A-Za-z0-9+/=_~.-]{16,400})(?:[\s,;&"'`)}\\\]]|\z))"#,
        )
    };
}

pub(super) const RULES: &[Rule] = &[
    Rule::context(
        "aws secret key",
        &["aws_secret", "secretaccesskey", "secret_access_key", "secret access key", "aws secret", "secret-access-key"],
        r"[A-Za-z_ -]{6,30}<sep>([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
    ),
    Rule::context(
        "aws session token",
        &["session_token", "sessiontoken"],
        r"[A-Za-z_]{12,13}<sep>([A-Za-z0-9/+]{100,}={0,2})",
    )
    .reach(Reach::Long),
    Rule::context(
        "azure storage key",
        &["accountkey=", "sharedaccesskey="],
        r"[A-Za-z]{10,15}=([A-Za-z0-9+/]{43,86}={0,2})",
    ),
    Rule::context("azure signature", &["sig="], r"sig=([A-Za-z0-9%+/]{40,}={0,2})"),
    Rule::prefix("azure client secret", &["7q~", "8q~"], r"[A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{31,34}")
        .start(Start::Before(3..=3, is_token_byte)),
    Rule::context(
        "cloudflare token",
        &["cloudflare"],
        r"(?i:cloudflare)[A-Za-z_ -]{0,30}<sep>([A-Za-z0-9_-]{37,45})<end>",
    ),
    Rule::context("cloudflare token", &["cf_api_"], r"(?i:cf_api_)[A-Za-z_]{0,12}<sep>([A-Za-z0-9_-]{37,45})<end>"),
    Rule::context(
        "heroku key",
        &["heroku"],
        r"(?i:heroku)[A-Za-z_ -]{0,30}<sep>([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})<end>",
    ),
    Rule::context(
        "datadog key",
        &["datadog", "dd_api_key", "dd_app_key"],
        r"(?i:datadog|dd_)[A-Za-z_ -]{0,30}<sep>([a-f0-9]{32}(?:[a-f0-9]{8})?)<end>",
    ),
    Rule::context("twilio token", &["twilio"], r"(?i:twilio)[A-Za-z_ -]{0,30}<sep>([a-f0-9]{32})<end>"),
    Rule::context("password", &["://"], r#"://[^\s/@:"'<>]{0,100}:([^\s/?"'<>]{1,200})@"#).check(is_url_password),
    Rule::context("authorization", &["bearer"], r"(?i:bearer)\s{1,3}([A-Za-z0-9._~+/=-]{16,})")
        .reach(Reach::Long)
        .check(is_token),
    Rule::context("authorization", &["basic"], r"(?i:basic)\s{1,3}([A-Za-z0-9+/]{8,}={0,2})").check(is_basic_login),
    Rule::context(
        "password",
        &["pass", "pwd", "contrase", "mot de passe"],
        concat!(
            r"(?i:password|passwd|passphrase|passcode|passwort|pass|pwd|contraseña|mot de passe)",
            r"(?:_[A-Za-z0-9]{1,12}){0,2}<assign>(?:",
            r#"\\?["'`]([^\s"'`\\]{8,200})\\?["'`]|"#,
            r"([A-Za-z0-9+/=_!@#%^*~?.$-]{8,200}(?:&[A-Za-z0-9+/_!@#%^*~?.$-]{0,40})?)",
            r#"(?:[\s,;&"'`)}\\\]]|\z))"#,
        ),
    )
    .check(is_password),
    // In a sentence: "the password for the router is …". Several words may stand between the keyword and its value.
    Rule::context(
        "password",
        &["pass", "kennwort", "contrase", "mot de passe"],
        concat!(
            r"(?i:password|passwd|passphrase|passcode|passwort|kennwort|contraseña|mot de passe)",
            r"(?:\s(?i:for|of|to|on|at|für|von|vom|zum|des|der|im|beim|pour|de|du|del|para|au|à)",
            r"(?:\s[\p{L}\p{N}_'’.-]{1,30}){1,5}?)?",
            r"\s(?i:is|was|ist|lautet|war|est|es|era)(?:\s(?i:now|jetzt|nun|maintenant|ahora))?\s{1,3}(?:",
            r#"\\?["'`]([^\s"'`\\]{8,200})\\?["'`]|"#,
            r#"([A-Za-z0-9+/=_!@#%^*~?.$-]{8,200})(?:[\s,;&"'`)}\\\]]|\z))"#,
        ),
    )
    .check(is_password),
    Rule::context(
        "api key",
        &[
            "api_key",
            "api-key",
            "apikey",
            "api key",
            "secret_key",
            "secret-key",
            "secretkey",
            "secret key",
            "client_secret",
        ],
        concat!(r"(?i:(?:api|secret)[_ -]?key|client_secret)", assigned_token!()),
    )
    .check(is_key),
    Rule::context(
        "token",
        &["token", "secret", "credential", "access_key", "accesskey", "private_key", "signing_key", "encryption_key"],
        concat!(r"(?i:token|secret|credentials?|(?:access|private|signing|encryption)_?key)", assigned_token!()),
    )
    .check(is_token),
];
