//! What is made from the database and committed: `docs/schema.md` and `functions/REVISION`.

use std::path::{Path, PathBuf};

use butler_store::FunctionSet;
use butler_testkit::TestDb;

fn home(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn renews() -> bool {
    std::env::var_os("BUTLER_UPDATE_DOCS").is_some()
}

#[tokio::test]
async fn the_reference_of_the_schema_is_up_to_date() {
    let page = crate::describe::reference(&mut TestDb::new().await.connect().await).await;
    let path = home("../../docs/schema.md");
    if renews() {
        return std::fs::write(&path, page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(page.lines()).position(|(a, b)| a != b);
    assert!(committed == page, "docs/schema.md has drifted (line {line:?}): renew it with cargo xtask prepare");
}

/// The number in the file decides which program's functions a shared database keeps, so it grows with each change.
#[tokio::test]
async fn the_revision_belongs_to_the_functions() {
    let functions = FunctionSet::current();
    let path = home("functions/REVISION");
    let committed = std::fs::read_to_string(&path).unwrap();
    let (number, hash) = (functions.revision, functions.hash());
    let same = committed.lines().nth(1) == Some(hash.as_str());
    if renews() && !same {
        let called = called(&TestDb::new().await).await;
        return std::fs::write(&path, format!("{}\n{hash}\n{}\n", number + 1, called.join("\n"))).unwrap();
    }
    assert!(same, "functions/*.sql changed: raise the number in functions/REVISION with cargo xtask prepare");
    let called = called(&TestDb::new().await).await;
    if renews() {
        return std::fs::write(&path, format!("{number}\n{hash}\n{}\n", called.join("\n"))).unwrap();
    }
    assert_eq!(
        functions.called, called,
        "the program calls other functions: renew functions/REVISION with cargo xtask prepare"
    );
}

/// The functions whose names the program's own statements contain.
async fn called(db: &TestDb) -> Vec<String> {
    let mut source = String::new();
    read_rust(&home("src"), &mut source);
    let signatures: Vec<(String, String)> = sqlx::query_as(
        "SELECT proname::text, proname || '(' || oidvectortypes(proargtypes) || ') -> ' || pg_get_function_result(p.oid)
         FROM pg_proc p, butler_functions f
         WHERE pronamespace = 'public'::regnamespace AND proname || '(' || oidvectortypes(proargtypes) || ')' = ANY (f.signatures)
         ORDER BY 2",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap();
    let is_called = |name: &str| {
        let call = format!("{name}(");
        source.match_indices(&call).any(|(at, _)| !source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    signatures.into_iter().filter(|(name, _)| is_called(name)).map(|(_, signature)| signature).collect()
}

fn read_rust(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_rust(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}
