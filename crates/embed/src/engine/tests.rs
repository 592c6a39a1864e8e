//! The engine with a fake model that waits, fails and panics on demand.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc;

use futures::future::{join_all, poll_immediate};

use super::*;

/// Returns the length of the text after the test releases the batch. The text "panic" panics.
struct StandIn {
    gate: Mutex<mpsc::Receiver<()>>,
    /// The texts of each batch.
    batches: mpsc::Sender<Vec<String>>,
}

impl Backend for StandIn {
    fn session(self: Arc<Self>) -> Box<dyn Session> {
        Box::new(StandInSession(self))
    }

    fn is_known_word(&self, word: &str) -> bool {
        word == "known"
    }
}

struct StandInSession(Arc<StandIn>);

impl Session for StandInSession {
    fn embed(&mut self, texts: &[&str], _: bool) -> Result<Vec<Vector>, EmbedError> {
        self.0.batches.send(texts.iter().map(|text| text.to_string()).collect()).unwrap();
        // An error means that the test has dropped the sender and releases all batches.
        let _ = self.0.gate.lock().unwrap().recv();
        assert!(!texts.contains(&"panic"), "as told");
        Ok(texts.iter().map(|text| Vector::from([text.len() as f32])).collect())
    }
}

/// Returns the engine, the sender that releases a batch (or all, if dropped), and a receiver of started batches.
fn stand_in(queue: usize) -> (Arc<Engine>, mpsc::Sender<()>, mpsc::Receiver<Vec<String>>) {
    let (go, gate) = mpsc::channel();
    let (batches, started) = mpsc::channel();
    let backend: Arc<dyn Backend> = Arc::new(StandIn { gate: Mutex::new(gate), batches });
    (Engine::with(1, 100, queue, Box::new(move || Ok(backend.clone()))), go, started)
}

#[tokio::test]
async fn concurrent_requests_are_embedded_together() {
    let (engine, go, started) = stand_in(100);
    let mut first = engine.embed(Some("the first"));
    assert!(poll_immediate(&mut first).await.is_none());
    assert_eq!(started.recv().unwrap(), ["the first"]);
    let mut others: Vec<_> = ["b", "a", "a"].iter().map(|text| engine.embed(Some(text))).collect();
    for other in &mut others {
        assert!(poll_immediate(other).await.is_none());
    }
    assert_eq!(engine.stats().queue_depth, 3);
    drop(go);
    assert_eq!(first.await.unwrap()[0], 9.0);
    assert_eq!(started.recv().unwrap(), ["a", "b"], "one batch, each text once");
    for vector in join_all(others).await {
        assert_eq!(vector.unwrap()[0], 1.0);
    }
    let stats = engine.stats();
    assert_eq!((stats.batches, stats.texts, stats.queue_depth), (2, 3, 0));
}

#[tokio::test]
async fn a_loaded_model_knows_the_words_of_its_vocabulary() {
    let (engine, go, _started) = stand_in(100);
    assert!(!engine.is_known_word("known"), "not loaded yet");
    drop(go);
    engine.embed(Some("a text")).await.unwrap();
    assert!(engine.is_known_word("known") && !engine.is_known_word("knwon"));
}

#[tokio::test]
async fn a_full_queue_makes_callers_wait_and_loses_no_text() {
    let (engine, go, started) = stand_in(2);
    let texts: Vec<String> = (0..50).map(|n| "x".repeat(n)).collect();
    let mut many = engine.embed_batch(texts);
    assert!(poll_immediate(&mut many).await.is_none());
    started.recv().unwrap();
    assert!(engine.stats().queue_depth <= 2, "the others wait for a free slot");
    drop(go);
    let lengths: Vec<f32> = many.await.unwrap().iter().map(|vector| vector[0]).collect();
    let expected: Vec<f32> = (0..50).map(|n| if n == 0 { 1.0 } else { n as f32 }).collect();
    assert_eq!(lengths, expected);
}

#[tokio::test]
async fn a_panic_is_reported_and_the_engine_continues() {
    let (engine, go, _started) = stand_in(10);
    drop(go);
    let why = engine.embed(Some("panic")).await.unwrap_err().to_string();
    assert!(why.contains("as told"), "{why}");
    assert_eq!(engine.embed(Some("next")).await.unwrap()[0], 4.0);
}

#[tokio::test]
async fn a_failed_load_is_reported_to_all_callers_and_retried_by_the_next_call() {
    let (loads, fine) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (go, gate) = mpsc::channel();
    let (batches, _started) = mpsc::channel();
    drop(go);
    let backend: Arc<dyn Backend> = Arc::new(StandIn { gate: Mutex::new(gate), batches });
    let load = {
        let (loads, fine) = (loads.clone(), fine.clone());
        Box::new(move || {
            loads.fetch_add(1, Ordering::SeqCst);
            if fine.load(Ordering::SeqCst) { Ok(backend.clone()) } else { panic!("no such luck") }
        })
    };
    let engine = Engine::with(1, 100, 100, load);
    for result in join_all(["a", "b", "c"].map(|text| engine.embed(Some(text)))).await {
        assert!(result.unwrap_err().to_string().contains("no such luck"));
    }
    assert!(!engine.stats().loaded);
    let failed = loads.load(Ordering::SeqCst);
    fine.store(true, Ordering::SeqCst);
    assert_eq!(engine.embed(Some("a")).await.unwrap()[0], 1.0);
    assert_eq!(loads.load(Ordering::SeqCst), failed + 1);
    assert!(engine.stats().loaded);
}

#[tokio::test]
async fn a_text_whose_caller_is_gone_is_not_embedded() {
    let (engine, go, started) = stand_in(10);
    let mut first = engine.embed(Some("first"));
    assert!(poll_immediate(&mut first).await.is_none());
    started.recv().unwrap();
    let mut impatient = engine.embed(Some("impatient"));
    assert!(poll_immediate(&mut impatient).await.is_none());
    drop(impatient);
    drop(go);
    first.await.unwrap();
    engine.embed(Some("last")).await.unwrap();
    assert_eq!(started.recv().unwrap(), ["last"]);
}
