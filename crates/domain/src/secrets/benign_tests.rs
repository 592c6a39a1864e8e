//! Text that looks like a secret to a careless scanner and must stay.

use super::*;

const BENIGN: &[&str] = &[
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "id 0191d3c4-7a2b-7c3d-8e4f-123456789abc of the fact",
    "token 550e8400-e29b-41d4-a716-446655440000 was revoked",
    "token_id: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file.tar.gz",
    "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
    "checksum = \"f020237b6c8eed93db2e2cb53c00c60a8e1bc73da7d073199a1180401450218d\"",
    "![chart](data/aGVsbG8gd29ybGQgaGVsbG8.png) and iVBORw0KGgoAAAANSUhEUgAAAAUA.png",
    "2026-02-28T13:37:00.123456Z and 20260228133700123",
    "call +49 170 1234 5678 or (030) 4111-2222 or 0049 170 4111111",
    "order 4111111111111112 and invoice 5500000000000005 are late",
    "order no. 2024-4111-0000-17, customer 30569309025",
    "DE89 3704 0044 0532 0130 00, GB29 NWBK 6016 1331 9268 19, FR1420041010050500013M02606",
    "https://example.com:8080/path?user=ann@example.com&x=1",
    "ssh://git@example.com:22/repo.git and git@example.com:org/repo.git",
    "http://localhost:3000?notify=me@example.com",
    "postgres://user:password@localhost/db and postgres://ann:***@db and postgres://u:${PASS}@db",
    "postgres://{user}:{password}@{host}/db",
    "password = os.environ[\"DB_PASSWORD_2\"]",
    "let token = get_token();",
    "const apiKey = process.env.API_KEY_2 ?? ''",
    "api_key = \"ANTHROPIC_API_KEY\"",
    "password: String, token: Option<Uuid>, secret: &'a str",
    "password=changeme password=${DB_PASSWORD} password=<your-password> password=********",
    "export TOKEN=\"$(cat /run/secrets/token2)\"",
    "secret_name: my-app-secret-2024-prod",
    "token: auth.users.v2.session_token1",
    "Authorization: Bearer TOKEN",
    "Authorization: Bearer $BUTLER_TOKEN",
    "the bearer of this letter-2024-is-allowed to enter",
    "basic knowledge of Rust, basic training in Bayern",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is what a token looks like",
    "a PEM file starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n-----END PUBLIC KEY-----",
    "max_tokens: 4096, total tokens: 123456789012345678",
    "task-0123456789abcdef0123456789abcdef and disk-image",
    "the keyboard key-binding and monkey-patching",
    "my password is the name of my dog",
    "the password for the vault is base64-encoded and the password policy is ISO27001",
    "the password of the account was changed in 2024, the password for the server is at most 64 characters long",
    "Das Passwort für Windows11 ist abgelaufen, das Kennwort der Nachbarn war einfach",
    "le mot de passe du wifi est affiché dans la chambre 12, la contraseña de la red es de 12 caracteres",
    "passed: 12, pass = true, bypass=enabled",
    "x.y.z a.bcdef.g MODULE_NAME.method.call",
    "pi is 3.1415926535897932 and 0.4111111111111111",
    "next_page_token: null, cursor=eyJpZCI6MTIzfQ",
];

#[test]
fn ordinary_text_stays() {
    let redactor = Redactor::standard();
    let wrong: Vec<_> = BENIGN.iter().map(|text| redactor.redact(text)).filter(|redacted| redacted.found > 0).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
