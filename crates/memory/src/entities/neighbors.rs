use butler_store::entities::{self, Neighborhood, Neighbors};

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// The relations around an entity. A merged entity has none; the error names its survivor.
    pub async fn entity_neighbors(&self, call: &Call, around: &Neighborhood) -> Result<Neighbors, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        match entities::get(&mut conn, &call.tenant, around.entity).await? {
            None => Err(MemoryError::NoEntity { id: around.entity }),
            Some(found) => match found.survivor {
                Some(survivor) => Err(super::merged("entity", around.entity, survivor.id)),
                None => Ok(entities::neighbors(&mut conn, &call.tenant, call.now, around).await?),
            },
        }
    }
}
