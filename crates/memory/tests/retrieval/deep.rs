use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{episode, fact, id, ids, number, results};

async fn conversation(world: &MemoryFixture, session: u128, turns: &[(&str, &str)]) -> Vec<Uuid> {
    let mut stored = Vec::new();
    for (speaker, text) in turns {
        let more = json!({"session_id": Uuid::from_u128(session), "metadata": {"speaker": speaker}});
        stored.push(episode(world, "chat", &format!("{speaker}: {text}"), more).await);
        world.clock.advance(std::time::Duration::from_secs(30));
    }
    stored
}

async fn deep(world: &MemoryFixture, query: &str) -> Vec<Value> {
    results(world, "memory_search", json!({"query": query, "mode": "deep", "types": ["episode"], "explain": true}))
        .await
}

#[tokio::test]
async fn an_answer_is_found_through_the_question_before_it() {
    let world = MemoryFixture::new().await;
    let turns = conversation(
        &world,
        1,
        &[
            ("Anna", "What instrument did you learn as a child?"),
            ("Ben", "The cello, for nine years."),
            ("Anna", "How lovely."),
        ],
    )
    .await;
    conversation(&world, 2, &[("Anna", "Nice weather."), ("Ben", "The radio said rain."), ("Anna", "Shame.")]).await;
    let found = deep(&world, "Which instrument did Ben learn as a child?").await;
    assert!(
        ids(&found[..2]).contains(&turns[1]),
        "the answer has none of the words, its neighbour has them all: {found:?}"
    );
    assert!(number(&found[0], "score") <= 1.0);
    let parts = &found[0]["explain"]["parts"];
    assert!(["keyword", "semantic", "speaker", "session"].iter().all(|part| parts[part].is_number()), "{parts}");
}

#[tokio::test]
async fn turns_of_the_same_moment_are_neighbours_in_the_order_in_which_they_were_stored() {
    let world = MemoryFixture::new().await;
    let said = [
        ("Anna", "What instrument did you learn as a child?"),
        ("Anna", "How lovely."),
        ("Ben", "The cello, for nine years."),
    ];
    let turns = conversation(&world, 1, &said).await;
    // An import knows only the day, and its ids say nothing about the order.
    world
        .db
        .execute(
            "UPDATE episodes SET occurred_at = '2030-01-10', created_at = CASE WHEN content LIKE '%instrument%' THEN '2030-01-11'
                 WHEN content LIKE '%cello%' THEN '2030-01-12' ELSE '2030-01-13' END::timestamptz",
        )
        .await;
    let found = deep(&world, "Which instrument did Ben learn as a child?").await;
    assert!(ids(&found[..2]).contains(&turns[2]), "{found:?}");
}

#[tokio::test]
async fn the_speaker_the_query_names_is_preferred() {
    let world = MemoryFixture::new().await;
    let a = conversation(&world, 1, &[("Anna Berg", "I went hiking")]).await;
    let b = conversation(&world, 2, &[("Ben", "I went hiking")]).await;
    assert_eq!(id(&deep(&world, "hiking of Ben").await[0]), b[0]);
    assert_eq!(id(&deep(&world, "when did Anna go hiking").await[0]), a[0], "the first name is enough");
    let both = deep(&world, "Anna and Ben hiking").await;
    assert!(both.iter().all(|hit| hit["explain"]["parts"]["speaker"] == 0.0), "with two names no speaker is preferred");
}

#[tokio::test]
async fn episodes_without_a_session_and_other_types_take_part() {
    let world = MemoryFixture::new().await;
    let alone = episode(&world, "chat", "Talked about tides", json!({})).await;
    let stored = fact(&world, "moon", "tides", "come twice a day").await;
    fact(&world, "user", "colour", "blue").await;
    let found = ids(&results(&world, "memory_search", json!({"query": "tides", "mode": "deep"})).await);
    assert!(found.contains(&alone) && found[..2].contains(&stored), "{found:?}");
}

#[tokio::test]
async fn a_turn_of_the_period_that_the_query_names_is_scored_with_all_others() {
    let world = MemoryFixture::new().await;
    let turn = async |speaker: &str, occurred_at: &str, content: &str| {
        let more = json!({"metadata": {"speaker": speaker}, "occurred_at": occurred_at});
        episode(&world, "chat", content, more).await
    };
    let then = turn("Anna", "2029-03-10", "The cello needs a repair.").await;
    let best = turn("Ben", "2029-08-10", "The cello needs a repair.").await;
    turn("Ben", "2029-08-11", "Nice weather today.").await;
    let ask = async |query: &str, limit: usize| {
        let arguments = json!({"query": query, "mode": "deep", "types": ["episode"], "limit": limit, "explain": true});
        results(&world, "memory_search", arguments).await
    };
    assert_eq!(id(&ask("Where does Ben repair the cello?", 1).await[0]), best);
    let question = "Where does Ben repair the cello in March 2029?";
    let (first, all) = (ask(question, 1).await, ask(question, 10).await);
    assert_eq!(id(&first[0]), then, "it is not the best match, but of that time");
    assert_eq!((id(&all[0]), id(&all[1])), (then, best));
    assert_eq!(first[0]["explain"]["parts"], all[0]["explain"]["parts"], "the limit does not change its score");
}
