//! Bulk loading of facts: generated sentences, and vectors that are mixtures of real embeddings.

use std::ops::Range;

use butler_embed::{Embedder, Engine};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::copy::{self, Rows};

/// Real embeddings that the vectors are mixed from.
const BASE: usize = 1500;

/// A random number generator with the same sequence in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// In (−1, 1), with a triangular distribution around 0.
    fn noise(&mut self) -> f32 {
        let unit = |bits: u64| (bits >> 40) as f32 / (1 << 24) as f32;
        unit(self.next()) + unit(self.next()) - 1.0
    }
}

const PEOPLE: [&str; 12] =
    ["Anna", "Ben", "Carla", "David", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Liam"];
const PREDICATES: [&str; 10] =
    ["likes", "works_at", "lives_in", "allergy", "hobby", "birthday", "car", "pet", "project", "plan"];
const THINGS: [&str; 24] = [
    "peanuts",
    "the harbour",
    "a grey parrot",
    "mountain biking",
    "violin lessons",
    "an old Volvo",
    "the tax report",
    "gluten free bread",
    "a trip to Norway",
    "night shifts",
    "chess club",
    "a broken ankle",
    "the garden shed",
    "Italian opera",
    "blood pressure pills",
    "a mortgage",
    "the school play",
    "rye whisky",
    "solar panels",
    "a marathon",
    "the dentist",
    "a red bicycle",
    "wild mushrooms",
    "an allergy test",
];
const DETAILS: [&str; 16] = [
    "since last spring",
    "because of her sister",
    "every Tuesday",
    "when the weather is bad",
    "for the second time",
    "but not in winter",
    "after the move",
    "with the neighbours",
    "against the advice",
    "before breakfast",
    "as a surprise",
    "in the evening",
    "at the office",
    "without telling anyone",
    "until the summer",
    "on the weekend",
];

/// A random sentence. The number makes it unique.
pub fn sentence(dice: &mut Dice, number: usize) -> String {
    let (person, thing) = (PEOPLE[dice.below(PEOPLE.len())], THINGS[dice.below(THINGS.len())]);
    let (detail, more) = (DETAILS[dice.below(DETAILS.len())], THINGS[dice.below(THINGS.len())]);
    format!("{person} talked about {thing} {detail}, then about {more}, note {number}")
}

pub struct Vectors {
    base: Vec<butler_embed::Vector>,
}

impl Vectors {
    pub async fn new(engine: &Engine) -> anyhow::Result<Self> {
        let mut dice = Dice::new(7);
        let mut base = Vec::new();
        for start in (0..BASE).step_by(100) {
            let texts = (start..start + 100).map(|n| sentence(&mut dice, n)).collect();
            base.extend(engine.embed_batch(texts).await?);
        }
        Ok(Self { base })
    }

    /// A unit vector between two real embeddings, with noise.
    pub fn mix(&self, dice: &mut Dice) -> Vec<f32> {
        let (a, b) = (&self.base[dice.below(self.base.len())], &self.base[dice.below(self.base.len())]);
        let share = 0.3 + 0.2 * dice.noise();
        let mut vector: Vec<f32> = a.iter().zip(b.iter()).map(|(a, b)| a + share * b + 0.02 * dice.noise()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }
}

/// The vocabulary of the texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Words {
    Ordinary,
    /// Ten words, each in half of the texts.
    Few,
}

/// The properties of facts to load.
pub struct Facts<'a> {
    /// Tenants are called `prefix-0`, …
    pub prefix: &'a str,
    pub words: Words,
    /// The tenant of the n-th fact.
    pub owner: &'a dyn Fn(usize) -> usize,
    pub versions: &'a [Uuid],
    /// When the n-th fact was stored, in microseconds since 1970.
    pub stored_at: &'a dyn Fn(usize) -> i64,
}

/// Loads `rows` facts, spread over `tenants` (named `prefix-0`, …): COPY without indexes, then the indexes.
pub async fn load(
    pg: &mut PgConnection,
    vectors: &Vectors,
    prefix: &str,
    tenants: usize,
    rows: usize,
    words: Words,
) -> anyhow::Result<()> {
    let versions = versions(pg, prefix, 0..tenants).await?;
    let now = now(pg).await?;
    let facts = Facts {
        prefix,
        words,
        owner: &|number| number % tenants,
        versions: &versions,
        stored_at: &|number| now + number as i64 - rows as i64,
    };
    copy::drop_indexes(pg).await?;
    copy_facts(pg, vectors, &facts, 0..rows, |_| ()).await?;
    copy::restore_indexes(pg).await
}

/// The database's clock, in microseconds since 1970.
pub async fn now(pg: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("SELECT (extract(epoch FROM now()) * 1000000)::bigint").fetch_one(pg).await?)
}

/// The embedding versions of these tenants, in their order.
pub async fn versions(pg: &mut PgConnection, prefix: &str, tenants: Range<usize>) -> anyhow::Result<Vec<Uuid>> {
    let names: Vec<String> = tenants.map(|tenant| format!("{prefix}-{tenant}")).collect();
    sqlx::query(
        "INSERT INTO embedding_versions (tenant_id, model, version, dimensions)
         SELECT t, $2, $3, 384 FROM unnest($1::text[]) AS t ON CONFLICT DO NOTHING",
    )
    .bind(&names)
    .bind(butler_embed::MODEL)
    .bind(butler_embed::VERSION)
    .execute(&mut *pg)
    .await?;
    let ids = sqlx::query_scalar(
        "SELECT v.id FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n)
         JOIN embedding_versions v ON v.tenant_id = u.t AND v.model = $2 AND v.version = $3 ORDER BY n",
    );
    Ok(ids.bind(&names).bind(butler_embed::MODEL).bind(butler_embed::VERSION).fetch_all(pg).await?)
}

/// An id as the program makes it at this moment (microseconds since 1970).
pub fn id_at(micros: i64) -> Uuid {
    butler_domain::Timestamp::from_timestamp_micros(micros).map(butler_domain::ids::new_id).unwrap_or_default()
}

/// Rows per COPY, some tens of megabytes.
pub const BATCH: usize = 10_000;

/// A fact that is being loaded.
pub struct Stored<'a> {
    pub number: usize,
    pub tenant: usize,
    pub id: Uuid,
    pub subject: &'a str,
    pub content: &'a str,
}

/// Loads facts with COPY, and passes each one to `seen`.
pub async fn copy_facts(
    pg: &mut PgConnection,
    vectors: &Vectors,
    facts: &Facts<'_>,
    numbers: Range<usize>,
    mut seen: impl FnMut(Stored<'_>),
) -> anyhow::Result<()> {
    let mut dice = Dice::new(numbers.end as u64);
    for start in numbers.clone().step_by(BATCH) {
        let mut rows = Rows::new();
        for number in start..(start + BATCH).min(numbers.end) {
            let (tenant, at) = ((facts.owner)(number), (facts.stored_at)(number));
            let id = id_at(at);
            let subject = format!("{} {number}", PEOPLE[dice.below(PEOPLE.len())]);
            let content = match facts.words {
                Words::Ordinary => sentence(&mut dice, number),
                Words::Few => sentence_of_few_words(&mut dice),
            };
            rows.row(9)
                .uuid(id)
                .text(&format!("{}-{tenant}", facts.prefix))
                .text(&subject)
                .text(PREDICATES[dice.below(PREDICATES.len())])
                .text(&content)
                .vector(&vectors.mix(&mut dice))
                .uuid(facts.versions[tenant])
                .time(at)
                .time(at);
            seen(Stored { number, tenant, id, subject: &subject, content: &content });
        }
        rows.copy(
            pg,
            "COPY facts (id, tenant_id, subject, predicate, content, embedding, embedding_version_id, last_confirmed_at, created_at)
             FROM STDIN BINARY",
        )
        .await?;
    }
    Ok(())
}

fn sentence_of_few_words(dice: &mut Dice) -> String {
    const WORDS: [&str; 10] = ["red", "blue", "green", "house", "boat", "tree", "river", "stone", "cloud", "bread"];
    WORDS.iter().filter(|_| dice.below(2) == 0).copied().collect::<Vec<_>>().join(" ")
}
