//! The engine with the real model, through its public interface.

use std::cell::Cell;
use std::fs::{self, File};
use std::sync::Arc;
use std::time::Duration;

use crate::common::{largest_difference, model_dir, references};
use butler_embed::{DIMENSIONS, Embedder, Engine, EngineOptions, locate_model};
use futures::future::join_all;
use tempfile::TempDir;

fn engine() -> Arc<Engine> {
    Engine::new(EngineOptions { model_dir: Some(model_dir()), ..EngineOptions::default() })
}

#[tokio::test]
async fn single_text_embedding() {
    let engine = engine();
    for reference in references() {
        let vector = engine.embed(Some(&reference.text)).await.unwrap();
        assert_eq!(vector.len(), DIMENSIONS);
        let difference = largest_difference(&vector, &reference.vector);
        assert!(difference <= 1e-5, "{:?} differs by {difference}", reference.text);
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

#[tokio::test]
async fn none_or_empty_text_becomes_one_space() {
    let engine = engine();
    let space = engine.embed(Some(" ")).await.unwrap();
    assert_eq!(engine.embed(None).await.unwrap(), space);
    assert_eq!(engine.embed(Some("")).await.unwrap(), space);
    assert_eq!(engine.embed_batch(vec![String::new()]).await.unwrap(), [space]);
}

#[tokio::test]
async fn batch_embedding_equals_single_embedding() {
    let texts: Vec<String> = references().into_iter().map(|reference| reference.text).collect();
    let batch = engine().embed_batch(texts.clone()).await.unwrap();
    let alone = engine();
    for (text, vector) in texts.iter().zip(batch) {
        assert_eq!(alone.embed(Some(text)).await.unwrap(), vector, "{text:?}");
    }
}

#[tokio::test]
async fn an_empty_batch_returns_nothing_and_does_not_load_the_model() {
    let engine = engine();
    assert!(engine.embed_batch(Vec::new()).await.unwrap().is_empty());
    assert!(!engine.stats().loaded);
}

#[tokio::test]
async fn sixty_four_concurrent_callers_get_their_own_answers_in_fewer_batches() {
    let (together, alone) = (engine(), engine());
    let texts: Vec<String> = (0..64).map(|n| format!("caller number {n} asks about topic {}", n * n)).collect();
    let vectors = join_all(texts.iter().map(|text| together.embed(Some(text)))).await;
    for (text, vector) in texts.iter().zip(vectors) {
        assert_eq!(vector.unwrap(), alone.embed(Some(text)).await.unwrap(), "{text}");
    }
    let stats = together.stats();
    assert_eq!(stats.texts, 64);
    assert!(stats.batches < 64, "{} batches", stats.batches);
}

#[tokio::test]
async fn a_repeated_text_comes_from_the_cache() {
    let engine = engine();
    let first = engine.embed(Some("asked twice")).await.unwrap();
    let second = engine.embed(Some("asked twice")).await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let batch = engine.embed_batch(vec!["asked twice".into(), "asked once".into()]).await.unwrap();
    assert!(Arc::ptr_eq(&first, &batch[0]));
    let stats = engine.stats();
    assert_eq!((stats.cache_hits, stats.cache_misses, stats.cache_entries, stats.texts), (2, 2, 2, 2));
}

#[tokio::test]
async fn the_engine_is_a_lazily_loaded_singleton() {
    let options = EngineOptions { model_dir: Some(model_dir()), ..EngineOptions::default() };
    let first = Engine::shared(options.clone());
    assert!(!first.stats().loaded, "created but not loaded");
    let second = Engine::shared(EngineOptions { threads: 1, ..options.clone() });
    assert!(Arc::ptr_eq(&first, &second), "subsequent calls return the same instance");
    second.warm_up().await.unwrap();
    assert!(first.stats().loaded);
    let elsewhere = Engine::shared(EngineOptions { model_dir: Some("elsewhere".into()), ..options });
    assert!(!Arc::ptr_eq(&first, &elsewhere));
}

#[tokio::test(flavor = "current_thread")]
async fn embedding_does_not_block_the_async_thread() {
    let engine = engine();
    engine.warm_up().await.unwrap();
    let (done, turns) = (Cell::new(false), Cell::new(0));
    let embedding = async {
        engine.embed(Some(&"a long text ".repeat(100))).await.unwrap();
        done.set(true);
    };
    let others = async {
        while !done.get() {
            turns.set(turns.get() + 1);
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(embedding, others);
    assert!(turns.get() > 10, "the thread had only {} turns meanwhile", turns.get());
}

#[tokio::test]
async fn a_missing_model_is_an_error_with_a_remedy_and_is_retried() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("model");
    let options = EngineOptions { model_dir: Some(place.clone()), ..EngineOptions::default() };
    let engine = Engine::new(EngineOptions { cache_dir: dir.path().into(), ..options });
    let why = engine.embed(Some("x")).await.unwrap_err().to_string();
    assert!(why.contains(&place.display().to_string()) && why.contains("butler setup"), "{why}");
    assert!(!engine.stats().loaded);
    fs::create_dir(&place).unwrap();
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::hard_link(model_dir().join(file), place.join(file))
            .or_else(|_| fs::copy(model_dir().join(file), place.join(file)).map(drop))
            .unwrap();
    }
    engine.embed(Some("x")).await.unwrap();
}

#[test]
fn a_truncated_model_file_is_an_error_with_a_remedy() {
    let dir = TempDir::new().unwrap();
    fs::copy(model_dir().join("tokenizer.json"), dir.path().join("tokenizer.json")).unwrap();
    fs::write(dir.path().join("model.safetensors"), b"only the beginning").unwrap();
    let why = locate_model(Some(dir.path()), dir.path(), &butler_fetch::Silent).unwrap_err().to_string();
    assert!(why.contains("it has 18 bytes, not 90868376") && why.contains("butler setup"), "{why}");
}

#[test]
fn a_model_is_verified_once_and_again_when_it_changes() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("model.safetensors");
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::copy(model_dir().join(file), dir.path().join(file)).unwrap();
    }
    let locate = || locate_model(Some(dir.path()), &dir.path().join("cache"), &butler_fetch::Silent);
    locate().unwrap();

    let verified = fs::metadata(&path).unwrap();
    let file = File::create(&path).unwrap();
    file.set_len(verified.len()).unwrap();
    file.set_modified(verified.modified().unwrap()).unwrap();
    locate().expect("size and time are those of the verified file, so it is not read again");

    file.set_modified(verified.modified().unwrap() + Duration::from_secs(1)).unwrap();
    let why = locate().unwrap_err().to_string();
    assert!(why.contains("its sha256 is") && why.contains("butler setup"), "{why}");
}
