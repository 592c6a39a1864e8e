//! The SQL functions are applied at start: when their text changed, never over a newer program's, and with their grants.

use butler_store::{Database, FunctionSet, StoreError};
use butler_testkit::TestDb;

const GREETING: &str =
    "CREATE OR REPLACE FUNCTION greeting(name text) RETURNS text LANGUAGE sql AS $$ SELECT 'hello ' || name $$;
REVOKE EXECUTE ON FUNCTION greeting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION greeting TO butler_app;
COMMENT ON FUNCTION greeting IS 'Greets.';
";

/// The program's functions and one more, in the next revision.
fn with(definition: &str) -> FunctionSet {
    let mut functions = FunctionSet::current();
    functions.revision += 1;
    functions.definitions.push(definition.to_owned());
    functions
}

async fn greets(db: &TestDb, call: &str) -> Option<String> {
    let statement = sqlx::AssertSqlSafe(format!("SELECT {call}"));
    sqlx::query_scalar(statement).fetch_one(&mut db.connect().await).await.ok()
}

async fn may_call(db: &TestDb, role: &str, signature: &str) -> bool {
    let may = sqlx::query_scalar("SELECT has_function_privilege($1, $2, 'EXECUTE')").bind(role).bind(signature);
    may.fetch_one(&mut db.connect().await).await.unwrap()
}

#[tokio::test]
async fn functions_are_applied_again_when_their_text_changed_and_only_then() {
    let db = TestDb::new().await;
    assert!(!db.database().migrate().await.unwrap().functions, "nothing changed");
    assert!(db.database().migrate_with(&with(GREETING)).await.unwrap().functions);
    assert_eq!(greets(&db, "greeting('Ada')").await.as_deref(), Some("hello Ada"));
    assert!(!db.database().migrate_with(&with(GREETING)).await.unwrap().functions);
    // the same revision with another text, as in development
    let changed = with(&GREETING.replace("hello", "good day"));
    assert!(db.database().migrate_with(&changed).await.unwrap().functions);
    assert_eq!(greets(&db, "greeting('Ada')").await.as_deref(), Some("good day Ada"));
    assert!(may_call(&db, "butler_app", "greeting(text)").await);
}

#[tokio::test]
async fn an_older_program_leaves_a_newer_programs_functions_alone() {
    let db = TestDb::new().await;
    db.database().migrate_with(&with(GREETING)).await.unwrap();
    assert!(!db.database().migrate().await.unwrap().functions);
    assert!(greets(&db, "greeting('Ada')").await.is_some(), "it is still there");
}

#[tokio::test]
async fn an_older_program_is_refused_when_a_function_it_calls_is_gone() {
    let db = TestDb::new().await;
    let mut newer = with(GREETING);
    newer.definitions.retain(|definition| !definition.starts_with("CREATE OR REPLACE FUNCTION memory_bump("));
    db.database().migrate_with(&newer).await.unwrap();
    let error = db.database().migrate().await.unwrap_err();
    assert!(
        matches!(&error, StoreError::NewerFunctions { missing, .. } if missing.contains("memory_bump(")),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("newer butler"));
}

#[tokio::test]
async fn a_changed_signature_replaces_the_old_one_and_keeps_its_grants() {
    let db = TestDb::new().await;
    db.database().migrate_with(&with(GREETING)).await.unwrap();
    for (signature, call, changed) in [
        ("greeting(text,text)", "greeting('Ada', '!')", GREETING.replace("(name text)", "(name text, mark text)")),
        ("greeting(text)", "greeting('Ada')", GREETING.replace("RETURNS text", "RETURNS varchar")),
        ("greeting(text)", "greeting(who => 'Ada')", GREETING.replace("name", "who")),
    ] {
        assert!(db.database().migrate_with(&with(&changed)).await.unwrap().functions, "{changed}");
        assert_eq!(greets(&db, call).await.as_deref(), Some("hello Ada"), "{changed}");
        let count = "SELECT count(*) FROM pg_proc WHERE proname = 'greeting'";
        let overloads: i64 = sqlx::query_scalar(count).fetch_one(&mut db.connect().await).await.unwrap();
        assert_eq!(overloads, 1, "the old signature is gone");
        assert!(may_call(&db, "butler_app", signature).await && !may_call(&db, "butler_retention", signature).await);
    }
}

#[tokio::test]
async fn a_function_whose_file_is_gone_is_dropped_and_a_users_own_is_not() {
    let db = TestDb::new().await;
    db.execute("CREATE FUNCTION mine() RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$").await;
    db.database().migrate_with(&with(GREETING)).await.unwrap();
    let mut without = FunctionSet::current();
    without.revision += 2;
    assert!(db.database().migrate_with(&without).await.unwrap().functions);
    assert_eq!(greets(&db, "greeting('Ada')").await, None);
    assert_eq!(greets(&db, "mine()").await.as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_broken_function_changes_nothing_and_is_named() {
    let db = TestDb::new().await;
    let error =
        db.database().migrate_with(&with(&GREETING.replace("LANGUAGE sql", "LANGUAGE sqll"))).await.unwrap_err();
    assert!(matches!(&error, StoreError::Function { name, .. } if name == "greeting"), "{error}");
    assert!(!db.database().migrate().await.unwrap().functions, "the recorded ones are still the program's");
}

#[tokio::test]
async fn of_two_servers_that_start_at_once_one_applies_the_functions() {
    let db = TestDb::new().await;
    let newer = with(GREETING);
    let start = async || {
        let database = Database::connect(db.options()).await?;
        database.migrate_with(&newer).await
    };
    let (one, two) = tokio::join!(start(), start());
    assert_eq!([one.unwrap().functions, two.unwrap().functions].iter().filter(|applied| **applied).count(), 1);
    assert!(greets(&db, "greeting('Ada')").await.is_some());
}

/// At start the bodies are not checked, since a function may call one that is created after it.
#[tokio::test]
async fn every_function_body_is_valid() {
    let db = TestDb::new().await;
    for definition in FunctionSet::current().definitions {
        db.execute(&definition).await;
    }
}

#[tokio::test]
async fn a_function_that_runs_as_the_owner_fixes_its_search_path_and_refuses_the_public() {
    let db = TestDb::new().await;
    let open: Vec<String> = sqlx::query_scalar(
        "SELECT proname::text FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND prosecdef
         AND (NOT EXISTS (SELECT FROM unnest(proconfig) c WHERE c LIKE 'search_path=%, pg_temp')
              OR has_function_privilege('public', p.oid, 'EXECUTE'))",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap();
    assert!(open.is_empty(), "{open:?}");
    let count = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef";
    let closed: i64 = sqlx::query_scalar(count).fetch_one(&mut db.connect().await).await.unwrap();
    assert!(closed >= 5, "{closed}");
}
