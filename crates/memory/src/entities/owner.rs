//! The owner: the person whose agents use the memory, whom "user", "me" and "I" mean.

use butler_domain::validate::Invalid;
use butler_domain::{EntityType, TenantId};
use serde_json::{Map, Value, json};

use super::{EntityChanges, EntityInput, name};
use crate::{Call, Memory, MemoryError};

const OWNER: &str = "owner";

impl Memory {
    /// Marks the person of this name as the owner of the default tenant, and creates the entity if there is none. Fails
    /// if another owner is marked: what a person or agent chose later takes precedence over the configuration.
    pub async fn mark_owner(&self, configured: &str) -> Result<(), MemoryError> {
        let canonical_name = name("owner", &json!(configured))?;
        let call = Call::internal(self, TenantId::default(), "configuration");
        let mut conn = self.db().tenant(&call.tenant).await?;
        let marked = butler_store::entities::named(&mut conn, &call.tenant, "me").await?;
        let found = butler_store::entities::named(&mut conn, &call.tenant, &canonical_name).await?;
        drop(conn);
        if !marked.is_empty() {
            if marked.iter().any(|owner| found.contains(owner)) {
                return Ok(());
            }
            let other = Invalid::new("owner", "is not the entity that is marked as the owner, which stays");
            let hint = "to change it, set metadata.owner of that entity to false and restart";
            return Err(other.hint(hint).into());
        }
        let metadata = Map::from_iter([(OWNER.to_owned(), Value::Bool(true))]);
        match found.as_slice() {
            [] => {
                let entity_type = EntityType::Person;
                let input = EntityInput { canonical_name, entity_type, aliases: Vec::new(), metadata };
                self.create_entity(&call, input).await?;
            }
            [id] => {
                let changes = EntityChanges { metadata: Some(metadata), ..EntityChanges::default() };
                self.update_entity(&call, *id, changes).await?;
            }
            _ => {
                let several = Invalid::new("owner", format!("is the name of {} entities", found.len()));
                return Err(several.hint("mark one with entity_update: metadata {\"owner\": true}").into());
            }
        }
        Ok(())
    }
}
