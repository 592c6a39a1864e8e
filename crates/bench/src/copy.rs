//! Bulk loading with binary COPY, with the tables' indexes dropped in the meantime.

use sqlx::{Executor, PgConnection};
use uuid::Uuid;

/// Microseconds from 1970 to 2000, the epoch of PostgreSQL.
const EPOCH: i64 = 946_684_800_000_000;

/// Rows in the format of binary COPY.
pub struct Rows(Vec<u8>);

impl Rows {
    pub fn new() -> Self {
        // the signature, no flags, no extension
        let mut rows = b"PGCOPY\n\xff\r\n\0".to_vec();
        rows.extend([0; 8]);
        Self(rows)
    }

    /// Begins a row with this number of fields.
    pub fn row(&mut self, fields: i16) -> &mut Self {
        self.0.extend(fields.to_be_bytes());
        self
    }

    fn field(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend((bytes.len() as i32).to_be_bytes());
        self.0.extend(bytes);
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.field(text.as_bytes())
    }

    pub fn json(&mut self, value: &serde_json::Value) -> &mut Self {
        // the first byte is the version of the jsonb format
        self.field(format!("\u{1}{value}").as_bytes())
    }

    pub fn uuid(&mut self, id: Uuid) -> &mut Self {
        self.field(id.as_bytes())
    }

    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.field(&[u8::from(value)])
    }

    /// Microseconds since 1970.
    pub fn time(&mut self, micros: i64) -> &mut Self {
        self.field(&(micros - EPOCH).to_be_bytes())
    }

    pub fn vector(&mut self, vector: &[f32]) -> &mut Self {
        self.0.extend((4 + 4 * vector.len() as i32).to_be_bytes());
        self.0.extend((vector.len() as i16).to_be_bytes());
        self.0.extend([0; 2]);
        vector.iter().for_each(|x| self.0.extend(x.to_be_bytes()));
        self
    }

    pub async fn copy(mut self, pg: &mut PgConnection, statement: &'static str) -> anyhow::Result<()> {
        self.0.extend((-1_i16).to_be_bytes());
        let mut copy = pg.copy_in_raw(statement).await?;
        copy.send(self.0).await?;
        copy.finish().await?;
        Ok(())
    }
}

/// Drops the indexes of the memory tables that no constraint needs; [`restore_indexes`] builds them again. In the
/// meantime triggers compute the search vectors.
pub async fn drop_indexes(pg: &mut PgConnection) -> anyhow::Result<()> {
    pg.execute(
        "CREATE TEMP TABLE bench_indexes AS
         SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
         FROM pg_index i
         WHERE i.indrelid = ANY (ARRAY['facts', 'episodes', 'rules', 'memory_events', 'memory_links']::regclass[])
           AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid);
         DO $$ DECLARE one record; BEGIN
             FOR one IN SELECT name FROM bench_indexes LOOP EXECUTE 'DROP INDEX ' || one.name; END LOOP;
         END $$;
         CREATE TRIGGER bench_words BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION
             tsvector_update_trigger(search_vector, 'pg_catalog.english', subject, predicate, content);
         CREATE TRIGGER bench_words BEFORE INSERT ON episodes FOR EACH ROW EXECUTE FUNCTION
             tsvector_update_trigger(search_vector, 'pg_catalog.english', content);
         CREATE TRIGGER bench_words BEFORE INSERT ON rules FOR EACH ROW EXECUTE FUNCTION
             tsvector_update_trigger(search_vector, 'pg_catalog.english', content)",
    )
    .await?;
    Ok(())
}

/// Builds the dropped indexes again.
pub async fn restore_indexes(pg: &mut PgConnection) -> anyhow::Result<()> {
    pg.execute(
        "DROP TRIGGER bench_words ON facts; DROP TRIGGER bench_words ON episodes; DROP TRIGGER bench_words ON rules;
         SET maintenance_work_mem = '1GB';
         DO $$ DECLARE one record; BEGIN
             FOR one IN SELECT definition FROM bench_indexes LOOP EXECUTE one.definition; END LOOP;
         END $$;
         RESET maintenance_work_mem;
         DROP TABLE bench_indexes",
    )
    .await?;
    pg.execute("VACUUM ANALYZE facts, episodes, rules, memory_events, memory_links").await?;
    Ok(())
}
