//! The command palette: names, aliases and texts that begin with the typed text.

use butler_domain::{TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Session, StoreError};

/// What a result of the palette is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundKind {
    Fact,
    Rule,
    Episode,
    Entity,
}

impl FoundKind {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Rule => "rule",
            Self::Episode => "episode",
            Self::Entity => "entity",
        }
    }
}

/// One line of the palette.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PaletteItem {
    pub kind: FoundKind,
    pub id: Uuid,
    /// Subject and predicate, the entity's name, or the beginning of the text.
    pub title: String,
    /// The beginning of the content; for an entity, its aliases.
    pub preview: String,
    /// The scope; for an episode its butler, for an entity its type.
    pub scope: String,
    /// Confidence after decay, for facts and rules.
    pub effective_confidence: Option<f64>,
    /// For rules only.
    pub maturity: Option<String>,
    /// For episodes only.
    pub status: Option<String>,
    pub created_at: Timestamp,
    /// How well it matches among results of its kind; 1 or more if the typed text is its name, an alias or its subject.
    pub score: f64,
}

/// Finds at most `limit` results of each kind, the best first.
pub async fn find(
    session: &mut Session,
    tenant: &TenantId,
    words: &str,
    limit: i32,
    now: Timestamp,
) -> Result<Vec<PaletteItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT kind AS "kind!", id AS "id!", title AS "title!", preview AS "preview!", scope AS "scope!",
                          effective_confidence, maturity, created_at AS "created_at!", standing AS "standing!"
                   FROM browse_palette($1, $2, $3, $4)"#,
                tenant.as_str(),
                now,
                words,
                limit
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let kind = match row.kind.as_str() {
                "fact" => FoundKind::Fact,
                "rule" => FoundKind::Rule,
                "episode" => FoundKind::Episode,
                _ => FoundKind::Entity,
            };
            let (maturity, status) =
                if kind == FoundKind::Episode { (None, row.maturity) } else { (row.maturity, None) };
            PaletteItem {
                kind,
                id: row.id,
                title: row.title,
                preview: row.preview,
                scope: row.scope,
                effective_confidence: row.effective_confidence,
                maturity,
                status,
                created_at: row.created_at,
                score: row.standing,
            }
        })
        .collect())
}
