//! The registry of predicates.

use butler_domain::validate::Invalid;
use butler_domain::{Cardinality, EntityType, Predicate};
use butler_store::predicates::{self, SetOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Memory, MemoryError};

/// Predicates, with what is known about each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Predicates {
    pub predicates: Vec<Predicate>,
}

/// The validated fields of a predicate. `None` keeps what is known, or is the default of a new one.
#[derive(Debug, Clone, Default)]
pub struct PredicateInput {
    pub name: String,
    pub cardinality: Option<Cardinality>,
    pub inverse: Option<String>,
    pub symmetric: Option<bool>,
    pub temporal: Option<bool>,
    pub object_type: Option<EntityType>,
    pub description: Option<String>,
}

impl Memory {
    /// All predicates by name.
    pub async fn list_predicates(&self, call: &Call) -> Result<Vec<Predicate>, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        Ok(predicates::list(&mut conn, &call.tenant).await?)
    }

    /// The predicates nearest in meaning to a description of the relation.
    pub async fn search_predicates(
        &self,
        call: &Call,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Predicate>, MemoryError> {
        let all = self.list_predicates(call).await?;
        let mut texts: Vec<String> = all.iter().map(Predicate::text).collect();
        texts.push(query.to_owned());
        let mut vectors = self.embedder().embed_batch(texts).await?;
        let Some(wanted) = vectors.pop() else { return Ok(Vec::new()) };
        let likeness = |vector: &[f32]| vector.iter().zip(wanted.iter()).map(|(a, b)| a * b).sum::<f32>();
        let mut ranked: Vec<(f32, Predicate)> = vectors.iter().map(|vector| likeness(vector)).zip(all).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        Ok(ranked.into_iter().take(limit).map(|(_, predicate)| predicate).collect())
    }

    /// Registers a predicate that is not known (`change` false), or changes a known one.
    pub async fn set_predicate(
        &self,
        call: &Call,
        input: PredicateInput,
        change: bool,
    ) -> Result<Predicate, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let same = |predicate: &Predicate| key(&predicate.name) == key(&input.name);
        let known = predicates::list(&mut conn, &call.tenant).await?.into_iter().find(same);
        let known = match (known, change) {
            (Some(known), true) => Some(known),
            (None, false) => None,
            (Some(known), false) if known.built_in => Some(known),
            (Some(known), false) => {
                let message = format!("predicate {:?} is registered already", known.name);
                return Err(MemoryError::Conflict { message, hint: "change it with the action update".to_owned() });
            }
            (None, true) => {
                let invalid = Invalid::new("name", format!("no predicate {:?} is registered", input.name));
                return Err(invalid.hint("register it with the action register").into());
            }
        };
        let predicate = merged(known, input)?;
        match predicates::set(call.write(&mut conn), &predicate).await? {
            SetOutcome::Set => Ok(predicate),
            SetOutcome::InverseTaken { by } => {
                let invalid = Invalid::new("inverse", format!("contradicts {by:?}, which has another inverse"));
                Err(invalid.hint(format!("change {by:?} first, or choose another inverse")).into())
            }
            SetOutcome::SeveralValues { subject } => {
                let invalid = Invalid::new("cardinality", format!("cannot be one: {subject:?} has several values"));
                Err(invalid.hint("forget all but one of them first").into())
            }
        }
    }
}

fn merged(known: Option<Predicate>, input: PredicateInput) -> Result<Predicate, Invalid> {
    let known = known.unwrap_or_else(|| Predicate {
        name: input.name.clone(),
        cardinality: Cardinality::One,
        inverse: None,
        symmetric: false,
        temporal: false,
        object_type: None,
        description: String::new(),
        built_in: false,
    });
    let symmetric = input.symmetric.unwrap_or(known.symmetric && input.inverse.is_none());
    let inverse = if input.symmetric == Some(true) { input.inverse } else { input.inverse.or(known.inverse) };
    if symmetric && inverse.is_some() {
        let invalid = Invalid::new("symmetric", "is true, so the predicate is its own inverse");
        return Err(invalid.hint("leave inverse out, or set symmetric to false"));
    }
    if inverse.as_deref().is_some_and(|inverse| key(inverse) == key(&input.name)) {
        return Err(Invalid::new("inverse", "is the predicate itself").hint("set symmetric to true instead"));
    }
    Ok(Predicate {
        name: known.name,
        cardinality: input.cardinality.unwrap_or(known.cardinality),
        inverse,
        symmetric,
        temporal: input.temporal.unwrap_or(known.temporal),
        object_type: input.object_type.or(known.object_type),
        description: input.description.unwrap_or(known.description),
        built_in: false,
    })
}

/// The normal form, like the SQL function `predicate_key` for all but unusual Unicode; the database decides in the end.
fn key(name: &str) -> String {
    let mut key = String::new();
    for letter in name.trim().chars() {
        let joins = letter.is_whitespace() || matches!(letter, '_' | '-');
        if !joins {
            key.extend(letter.to_lowercase());
        } else if !key.ends_with('_') {
            key.push('_');
        }
    }
    key
}
