//! References: the end of an id, with which a context line names its memory (`context.references`).

use std::collections::HashMap;

use butler_domain::MemoryType;
use butler_domain::validate::{self, IdOrEnd, Invalid};
use serde_json::Value;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// The reference of each memory: the shortest end of its id that no other memory of the tenant has.
    pub(crate) async fn references(&self, call: &Call, ids: &[Uuid]) -> Result<HashMap<Uuid, String>, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(butler_store::references::of(&mut conn, &call.tenant, ids).await?)
    }

    /// Reads an argument that names a memory by its id or by a reference. Only a reference costs a statement. One that
    /// several memories share is an error, so that a call never works on another memory than the caller meant.
    pub(crate) async fn referred(
        &self,
        call: &Call,
        memory_type: MemoryType,
        field: &str,
        value: &Value,
    ) -> Result<Uuid, MemoryError> {
        let end = match validate::id_or_end(field, validate::string(field, value)?)? {
            IdOrEnd::Id(id) => return Ok(id),
            IdOrEnd::End(end) => end,
        };
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let found = butler_store::references::referred(&mut conn, &call.tenant, memory_type, &end).await?;
        match &found[..] {
            [] => Err(MemoryError::NoReference { memory_type, end }),
            [id] => Ok(*id),
            several => {
                let ids: Vec<String> = several.iter().map(Uuid::to_string).collect();
                let message = format!("{end:?} is the end of several ids: {}", ids.join(", "));
                Err(Invalid::new(field, message).hint("give the whole id").into())
            }
        }
    }
}
