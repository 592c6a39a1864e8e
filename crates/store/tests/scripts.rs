//! Scripts without spaces between words are found by pairs of characters.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::scripts::pair_characters;
use butler_domain::text::{preprocess_search_query, preprocess_text};
use butler_domain::{TenantId, Timestamp};
use butler_store::browse::Page;
use butler_store::browse::facts::{self, FactFilter};
use butler_testkit::TestDb;

const NOW: &str = "2030-01-15T12:00:00Z";

/// Each content, and a question that shares characters with it alone.
const SENTENCES: [(&str, &str); 6] = [
    ("她在东京塔附近的咖啡馆工作", "谁在咖啡馆？"),
    ("我用Rust写代码", "写代码用什么语言"),
    ("猫は公園のベンチで寝ている", "公園で何をしている？"),
    ("コーヒーより紅茶が好きです", "紅茶とどちらがいい"),
    ("ฉันแพ้ถั่วลิสง", "แพ้ถั่วอะไร"),
    ("ខ្ញុំចូលចិត្តបាយឆា", "អ្នកណាចូលចិត្តបាយ"),
];

async fn store(db: &TestDb, content: &str, search_text: &str) {
    sqlx::query(
        "INSERT INTO facts (subject, predicate, content, search_vector, created_at, last_confirmed_at)
         VALUES ('s', $1, $1, memory_search_vector($2), $3, $3)",
    )
    .bind(content)
    .bind(search_text)
    .bind(NOW.parse::<Timestamp>().unwrap())
    .execute(&mut db.connect().await)
    .await
    .unwrap();
}

/// The contents with any word of the query, best first.
async fn found(db: &TestDb, query: &str) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT content FROM facts, any_of(query_terms(plainto_tsquery('english', $1))) AS wanted
         WHERE search_vector @@ wanted ORDER BY ts_rank(search_vector, wanted) DESC, content",
    )
    .bind(query)
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_question_in_a_script_without_spaces_finds_the_fact_by_keyword() {
    let db = TestDb::new().await;
    for (content, _) in SENTENCES {
        store(&db, content, &preprocess_text(content)).await;
    }
    for (content, question) in SENTENCES {
        let found = found(&db, &preprocess_search_query(question)).await;
        assert_eq!(found.first().map(String::as_str), Some(content), "{question}");
    }
    assert_eq!(found(&db, "rust").await, ["我用Rust写代码"], "a Latin word among other characters is a word");
}

#[tokio::test]
async fn the_parser_keeps_each_pair_as_a_word() {
    let db = TestDb::new().await;
    for (content, _) in SENTENCES {
        let text = preprocess_text(content);
        let mut pairs: Vec<String> = text.split(' ').map(str::to_lowercase).collect();
        let mut words: Vec<String> = sqlx::query_scalar("SELECT unnest(tsvector_to_array(memory_search_vector($1)))")
            .bind(&text)
            .fetch_all(&mut db.connect().await)
            .await
            .unwrap();
        pairs.sort();
        pairs.dedup();
        words.sort();
        assert_eq!(words, pairs, "{content}");
    }
}

#[tokio::test]
async fn what_a_person_types_into_a_list_is_found() {
    let db = TestDb::new().await;
    for (content, _) in SENTENCES {
        store(&db, content, &preprocess_text(content)).await;
    }
    let tenant = TenantId::default();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    for (typed, content) in [("咖啡馆", SENTENCES[0].0), ("紅茶", SENTENCES[3].0), ("ถั่วลิสง", SENTENCES[4].0)]
    {
        let filter = FactFilter { words: Some(typed.to_owned()), ..FactFilter::default() };
        let page = Page { limit: 20, offset: 0, after: None };
        let listed = facts::list(&mut conn, &tenant, &filter, page, NOW.parse().unwrap()).await.unwrap();
        let contents: Vec<&str> = listed.rows.iter().map(|item| item.fact.content.as_str()).collect();
        assert_eq!(contents, [content], "{typed}");
    }
}

#[tokio::test]
async fn the_database_makes_the_same_pairs_as_the_program() {
    let db = TestDb::new().await;
    let mut texts: Vec<String> =
        SENTENCES.iter().flat_map(|(content, question)| [content, question]).map(|text| (*text).to_owned()).collect();
    texts.extend(
        ["", "plain", "Zoë Äpfel", "한국어 문장", "3月15日、晴れ", "𠮷野家", "ｶﾞｷﾞ", "ကျွန်တော်", "ຂ້ອຍມັກ", "\u{0e49}กข"]
            .map(str::to_owned),
    );
    // Every character of the scripts and their neighbours, in runs of five, with and without marks between.
    let all: Vec<char> =
        (0x0d00..0x3200).chain(0xaa00..0xaa90).chain(0xff00..0xffa5).filter_map(char::from_u32).collect();
    texts.extend(all.chunks(5).map(|run| run.iter().collect()));
    texts.extend(all.chunks(2).map(|pair| format!("京{}都{}a", pair[0], pair[pair.len() - 1])));
    let texts: Vec<String> = texts.iter().map(|text| butler_domain::text::single_spaced(text)).collect();
    let made: Vec<String> =
        sqlx::query_scalar("SELECT script_pairs(t) FROM unnest($1::text[]) WITH ORDINALITY AS x (t, n) ORDER BY n")
            .bind(&texts)
            .fetch_all(&mut db.connect().await)
            .await
            .unwrap();
    for (text, made) in texts.iter().zip(made) {
        assert_eq!(made, pair_characters(text), "{text:?}");
    }
}
