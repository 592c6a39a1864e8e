//! Many facts, quickly: texts of ordinary words, vectors that are mixtures of real ones, straight into the table.

use embed::{Embedder, Engine};
use sqlx::{Executor, PgConnection};

/// Real embeddings the others are mixed from.
const BASE: usize = 1500;

/// A generator whose numbers are the same in every run.
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

    /// In (−1, 1), more often near 0.
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

/// A sentence; the number keeps each one different.
pub fn sentence(dice: &mut Dice, number: usize) -> String {
    let (person, thing) = (PEOPLE[dice.below(PEOPLE.len())], THINGS[dice.below(THINGS.len())]);
    let (detail, more) = (DETAILS[dice.below(DETAILS.len())], THINGS[dice.below(THINGS.len())]);
    format!("{person} talked about {thing} {detail}, then about {more}, note {number}")
}

pub struct Vectors {
    base: Vec<embed::Vector>,
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

    /// Between two real ones, and a little beside.
    pub fn mix(&self, dice: &mut Dice) -> Vec<f32> {
        let (a, b) = (&self.base[dice.below(self.base.len())], &self.base[dice.below(self.base.len())]);
        let share = 0.3 + 0.2 * dice.noise();
        let mut vector: Vec<f32> = a.iter().zip(b.iter()).map(|(a, b)| a + share * b + 0.02 * dice.noise()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }
}

/// How large a vocabulary the texts have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Words {
    Ordinary,
    /// Each of ten words is in half of the texts.
    Few,
}

/// `rows` facts spread over `tenants` (named `prefix-0`, …), in bulk.
pub async fn load(
    pg: &mut PgConnection,
    vectors: &Vectors,
    prefix: &str,
    tenants: usize,
    rows: usize,
    words: Words,
) -> anyhow::Result<()> {
    let mut dice = Dice::new(rows as u64);
    for tenant in 0..tenants {
        sqlx::query("INSERT INTO embedding_versions (tenant_id, model, version, dimensions) VALUES ($1, $2, $3, 384) ON CONFLICT DO NOTHING")
            .bind(format!("{prefix}-{tenant}"))
            .bind(embed::MODEL)
            .bind(embed::VERSION)
            .execute(&mut *pg)
            .await?;
    }
    for start in (0..rows).step_by(1000) {
        let count = 1000.min(rows - start);
        let (mut owners, mut subjects, mut texts, mut flat) = (vec![], vec![], vec![], vec![]);
        for number in start..start + count {
            owners.push(format!("{prefix}-{}", number % tenants));
            subjects.push(format!("{} {number}", PEOPLE[dice.below(PEOPLE.len())]));
            texts.push(match words {
                Words::Ordinary => sentence(&mut dice, number),
                Words::Few => few(&mut dice),
            });
            flat.extend(vectors.mix(&mut dice));
        }
        let predicates: Vec<&str> = (0..count).map(|_| PREDICATES[dice.below(PREDICATES.len())]).collect();
        sqlx::query(
            "INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector, embedding_version_id, last_confirmed_at, created_at)
             SELECT t, s, p, c, ($5::real[])[(n - 1) * 384 + 1 : n * 384]::vector, to_tsvector('english', concat_ws(' ', s, p, c)),
                    (SELECT id FROM embedding_versions v WHERE v.tenant_id = t AND v.model = $6 AND v.version = $7), now(), now() + n * interval '1 us'
             FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS u (t, s, p, c, n)",
        )
        .bind(&owners)
        .bind(&subjects)
        .bind(&predicates)
        .bind(&texts)
        .bind(&flat)
        .bind(embed::MODEL)
        .bind(embed::VERSION)
        .execute(&mut *pg)
        .await?;
    }
    pg.execute("VACUUM ANALYZE facts").await?;
    Ok(())
}

fn few(dice: &mut Dice) -> String {
    const WORDS: [&str; 10] = ["red", "blue", "green", "house", "boat", "tree", "river", "stone", "cloud", "bread"];
    WORDS.iter().filter(|_| dice.below(2) == 0).copied().collect::<Vec<_>>().join(" ")
}
