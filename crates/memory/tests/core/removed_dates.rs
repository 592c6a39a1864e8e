//! A correction can remove a date.

use butler_domain::FactId;
use butler_domain::times::{DateField, StatedDates};
use butler_memory::FactChanges;
use serde_json::{Value, json};

use crate::time::{at, go_to, lives, timeline};

fn removing(removed: &[DateField]) -> FactChanges {
    FactChanges { dates: StatedDates { removed: removed.to_vec(), ..StatedDates::default() }, ..FactChanges::default() }
}

fn id(stored: &Value) -> FactId {
    FactId(stored["id"].as_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn an_edit_removes_a_date_and_keeps_the_others() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2030", "valid_to": "2035-07"})).await;
    assert_eq!(timeline(&memory).await, ["Oslo 2030-01-01..2035-07-01 active"]);
    go_to(&memory, "2036-01-02");
    let call = memory.as_test();
    let edited = memory.memory.edit_fact(&call, id(&oslo), &removing(&[DateField::ValidTo])).await.unwrap().unwrap();
    assert_eq!(timeline(&memory).await[0], "Oslo 2030-01-01.. active", "she still lives there");
    let shown = memory.call("memory_get", json!({"memory_type": "fact", "memory_id": edited.id.0})).await.unwrap();
    assert_eq!((&shown["valid_from"], shown.get("valid_to")), (&json!("2030"), None), "{shown}");
    go_to(&memory, "2036-01-03");
    let call = memory.as_test();
    memory.memory.edit_fact(&call, edited.id, &removing(&[DateField::ValidFrom])).await.unwrap().unwrap();
    assert_eq!(timeline(&memory).await[0], "Oslo .. active", "the first statement of a key has always been true");
}

#[tokio::test]
async fn removing_a_date_that_is_unknown_changes_nothing() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    go_to(&memory, "2036-01-02");
    let call = memory.as_test();
    let edited = memory.memory.edit_fact(&call, id(&oslo), &removing(&[DateField::ValidTo])).await.unwrap().unwrap();
    assert_eq!((edited.id, edited.confirmed), (id(&oslo), true));
    assert_eq!(timeline(&memory).await, ["Oslo 2030-01-01.. active"]);
}
