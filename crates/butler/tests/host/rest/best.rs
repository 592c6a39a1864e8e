//! The order `best` of lists, the filter by tag, and changes that keep what a memory says.

use serde_json::{Value, json};

use super::{Api, id};

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn best_matches_of_all_butlers_are_found_by_misspelled_words_and_counted() {
    let api = Api::with(&["one", "two"]).await;
    let store = async |butler: &str, subject: &str, content: &str, tag: &str| {
        let fact = json!({"subject": subject, "predicate": "likes", "content": content, "tags": [tag]});
        id(&api.tool(butler, "memory_store_fact", fact).await)
    };
    let buns = store("one", "Wanda Grønning", "buns with cardamom", "food").await;
    let tea = store("two", "Maya Lindqvist", "tea with cardamom", "drink").await;
    store("two", "Bo", "long walks", "sport").await;

    let found = api.get("/api/memory/facts?q=cardamon&sort=best").await;
    let mut both = ids(&found);
    both.sort_unstable();
    let mut expected = [buns.as_str(), tea.as_str()];
    expected.sort_unstable();
    assert_eq!((both.as_slice(), &found["meta"]["total"]), (&expected[..], &json!(2)));
    let tagged = api.get("/api/memory/facts?q=cardamon&sort=best&tag=drink").await;
    assert_eq!((ids(&tagged), &tagged["meta"]["total"]), (vec![tea.as_str()], &json!(1)));
    assert_eq!(ids(&api.get("/api/memory/facts?tag=food").await), [buns.as_str()]);
    for (typed, fact) in [("Gronning", &buns), ("Lindquist", &tea)] {
        assert_eq!(ids(&api.get(&format!("/api/memory/facts?q={typed}&sort=best")).await)[0], fact, "{typed}");
        let all = api.get(&format!("/api/memory/search?q={typed}&sort=best")).await;
        assert_eq!(ids(&all)[0], fact, "{typed}");
    }
    let answer = api.answer("/api/memory/facts?q=tea&sort=best&cursor=1~1").await;
    assert_eq!(answer.status, 400, "an order by rank has no cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_finds_matches_that_many_others_outrank() {
    let api = Api::start().await;
    for number in 0..230 {
        let fact = json!({"subject": format!("Guest {number}"), "predicate": "drinks", "content": "tea"});
        api.tool("general", "memory_store_fact", fact).await;
    }
    let content = "sometimes a cup of tea after a long walk in the hills with her dog";
    let fact =
        json!({"subject": "Wanda", "predicate": "habit", "content": content, "tags": ["walk"], "scope": "sport"});
    let wanda = id(&api.tool("general", "memory_store_fact", fact).await);
    let all = api.get("/api/memory/facts?q=tea&sort=best&limit=100&offset=100").await;
    assert!(!ids(&all).contains(&wanda.as_str()));
    for filter in ["tag=walk", "scope=sport", "subject=Wanda"] {
        let found = api.get(&format!("/api/memory/facts?q=tea&sort=best&{filter}")).await;
        assert_eq!((ids(&found), &found["meta"]["total"]), (vec![wanda.as_str()], &json!(1)), "{filter}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_moves_to_another_scope_and_back() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "likes", "engines").await;
    let moved = id(&api.done("PUT", &format!("/api/memory/facts/{fact}"), json!({"scope": "home"})).await);
    assert_ne!(moved, fact);
    let scope = async |id: &str| api.get(&format!("/api/memory/facts/{id}")).await["data"]["scope"].clone();
    assert_eq!((scope(&moved).await, scope(&fact).await), (json!("home"), json!("global")));
    assert_eq!(ids(&api.get("/api/memory/facts").await), [moved.as_str()], "one of them is active");
    let back = id(&api.done("PUT", &format!("/api/memory/facts/{moved}"), json!({"scope": "global"})).await);
    assert_eq!(ids(&api.get("/api/memory/facts").await), [back.as_str()]);
    assert_eq!(scope(&back).await, "global");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_keeps_its_marks_when_only_its_tags_change() {
    let api = Api::start().await;
    let rule = api.rule("Ask twice").await;
    api.tool("general", "memory_mark_helpful", json!({"rule_id": rule})).await;
    let path = format!("/api/memory/rules/{rule}");
    api.done("PUT", &path, json!({"tags": ["manners"]})).await;
    let tagged = api.get(&path).await["data"].clone();
    assert_eq!((&tagged["success_count"], &tagged["tags"]), (&json!(1), &json!(["manners"])));
    assert_eq!(ids(&api.get("/api/memory/rules?tag=manners").await), [rule.as_str()]);
    api.done("PUT", &path, json!({"content": "Ask three times"})).await;
    assert_eq!(api.get(&path).await["data"]["success_count"], 0, "new text must prove itself again");
}
