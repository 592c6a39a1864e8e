//! Imports an export of butler in one transaction, so that a bad file leaves nothing behind.

use std::io;

use butler_domain::TenantId;
use butler_domain::event::{EventType, Origin};
use butler_store::events::{self, NewEvent};
use butler_store::transfer::Kind;
use butler_store::transfer::write::{self, Written};
use butler_store::{Session, StoreError, WriteContext, entities};
use serde_json::{Value, json};

use super::record::{self, Line, Record};
use super::suppress::Suppression;
use super::{FORMAT, Header, ImportReport, ModelName, TransferError, VERSION};
use crate::{Call, Memory, MemoryError};

/// Rows per statement: enough to make round trips cheap, and only a few megabytes with their vectors.
const BATCH: usize = 200;

/// How to import a file.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub tenant: TenantId,
    /// Report what the import would do, and write nothing.
    pub dry_run: bool,
    /// Import the valid lines even if others have problems.
    pub partial: bool,
    /// Who imports, for the audit log.
    pub origin: Origin,
}

/// Returns the next line without its line break, or `None` at the end of the file.
pub type Lines<'a> = dyn FnMut() -> Result<Option<Line>, TransferError> + Send + 'a;

impl Memory {
    /// Checks a file without a database: its header and each line on its own.
    pub fn check_export(&self, lines: &mut Lines<'_>) -> Result<ImportReport, TransferError> {
        let header = header(lines()?)?;
        let mut report = ImportReport::new(FORMAT, true);
        let model = self.model_name();
        while let Some(line) = lines()? {
            report.lines += 1;
            if let Some(record) = self.row(&line, &model, &mut report) {
                report.tally(record.kind.as_str()).read += 1;
            }
        }
        report_missing_lines(&header, &mut report);
        Ok(report)
    }

    /// Imports a file that [`Self::export`] wrote. Existing memories are not changed, so importing it again has no
    /// effect.
    pub async fn import(
        &self,
        lines: &mut Lines<'_>,
        options: &ImportOptions,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<ImportReport, TransferError> {
        let header = header(lines()?)?;
        let mut report = ImportReport::new(FORMAT, options.dry_run);
        let model = self.model_name();
        let mut conn = self.db().owner().await?;
        let mut tx = conn.begin().await?;
        write::prepare(&mut tx, &options.tenant).await?;
        let mut suppression = Suppression::new(&mut tx, &options.tenant).await?;
        let mut batch: Vec<Record> = Vec::new();
        let mut chains_tied = false;
        while let Some(line) = lines()? {
            report.lines += 1;
            progress(report.lines);
            let Some(record) = self.row(&line, &model, &mut report) else { continue };
            if batch.len() >= BATCH || batch.first().is_some_and(|first| first.kind != record.kind) {
                self.flush(&mut tx, &mut batch, options, &mut suppression, &mut report).await?;
            }
            if record.kind > Kind::Fact && !chains_tied {
                write::tie_chains(&mut tx, &options.tenant).await?;
                chains_tied = true;
            }
            batch.push(record);
        }
        self.flush(&mut tx, &mut batch, options, &mut suppression, &mut report).await?;
        write::tie_chains(&mut tx, &options.tenant).await?;
        if !options.partial && header.tenant != options.tenant.as_str() && report.events_elsewhere > 0 {
            tx.rollback().await?;
            return Err(TransferError::OtherTenant { owner: header.tenant });
        }
        report_missing_lines(&header, &mut report);
        report.committed = !options.dry_run && (options.partial || !report.has_problems());
        if report.committed {
            self.record_import(&mut tx, options, &report).await?;
            tx.commit().await?;
            self.db().wrote_all();
            self.training().record_writes(report.lines);
            drop(conn);
            self.link_imported(&options.tenant, &mut report).await;
        } else {
            tx.rollback().await?;
        }
        Ok(report)
    }

    /// Records the import in the audit log, unless it changed nothing.
    pub(super) async fn record_import(
        &self,
        session: &mut Session,
        options: &ImportOptions,
        report: &ImportReport,
    ) -> Result<(), StoreError> {
        if report.created() == 0 {
            return Ok(());
        }
        let payload = json!({"format": report.format, "lines": report.lines, "created": report.created()});
        let event = NewEvent { event_type: EventType::MemoryImported, about: None, payload };
        let write = WriteContext { session, tenant: &options.tenant, now: self.now(), origin: &options.origin };
        events::record(write, &[event]).await
    }

    /// Links facts to the entities that their subjects name, as storing them would have. The import is committed, so a
    /// failure is a problem of the report.
    async fn link_imported(&self, tenant: &TenantId, report: &mut ImportReport) {
        let call = Call::internal(self, tenant.clone(), "import");
        let link = async {
            let mut conn = self.db().tenant(tenant).await?;
            for id in entities::named_by_facts(&mut conn, tenant).await? {
                report.linked += entities::link(call.write(&mut conn), id).await?;
            }
            Ok::<_, StoreError>(())
        };
        if let Err(error) = link.await {
            report.problem(None, format!("cannot link all facts to entities: {error}; import the file again"));
        }
    }

    /// Parses a line. Reports an invalid line as a problem and ignores an empty one.
    fn row(&self, line: &Line, model: &ModelName, report: &mut ImportReport) -> Option<Record> {
        if line.text.trim().is_empty() {
            return None;
        }
        let record = record::read(line, model, self.redactor());
        let record = record.map_err(|problem| report.problem(Some(line.number), problem)).ok()?;
        report.redacted += record.redacted as u64;
        Some(record)
    }

    /// Writes the rows of `batch`, which have one kind, and empties it.
    async fn flush(
        &self,
        tx: &mut Session,
        batch: &mut Vec<Record>,
        options: &ImportOptions,
        suppression: &mut Suppression,
        report: &mut ImportReport,
    ) -> Result<(), TransferError> {
        let mut records = std::mem::take(batch);
        let Some(kind) = records.first().map(|record| record.kind) else { return Ok(()) };
        self.embed_missing(&mut records, &self.model_name(), report).await?;
        suppression.leave_out(self, tx, kind, &mut records, options, report).await?;
        let lines: Vec<u64> = records.iter().map(|record| record.line).collect();
        let rows: Vec<Value> = records.into_iter().map(|record| Value::Object(record.row)).collect();
        report.tally(kind.as_str()).read += rows.len() as u64;
        match self.write_rows(tx, kind, options, &rows).await {
            Ok(written) => count(kind, &written, &lines, &rows, report),
            Err(error) if error.is_unavailable() => return Err(error.into()),
            // A single bad row fails the statement. Writing the rows one by one finds it.
            Err(_) => {
                for (row, line) in rows.chunks(1).zip(lines.chunks(1)) {
                    match self.write_rows(tx, kind, options, row).await {
                        Ok(written) => count(kind, &written, line, row, report),
                        Err(error) if error.is_unavailable() => return Err(error.into()),
                        Err(error) => {
                            report.tally(kind.as_str()).left_out += 1;
                            report.problem(line.first().copied(), format!("{} was rejected: {error}", kind.as_str()));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes rows in a savepoint.
    async fn write_rows(
        &self,
        tx: &mut Session,
        kind: Kind,
        options: &ImportOptions,
        rows: &[Value],
    ) -> Result<Written, StoreError> {
        let mut savepoint = tx.begin().await?;
        match write::rows(&mut savepoint, kind, &options.tenant, rows, self.now()).await {
            Ok(written) => {
                savepoint.commit().await?;
                Ok(written)
            }
            Err(error) => {
                if !error.is_unavailable() {
                    savepoint.rollback().await?;
                }
                Err(error)
            }
        }
    }

    /// Embeds the memories that came without a vector of the current model.
    async fn embed_missing(
        &self,
        records: &mut [Record],
        model: &ModelName,
        report: &mut ImportReport,
    ) -> Result<(), MemoryError> {
        let texts: Vec<String> = records.iter_mut().filter_map(|record| record.to_embed.take()).collect();
        if texts.is_empty() {
            return Ok(());
        }
        report.embedded += texts.len() as u64;
        let mut vectors = self.embedder().embed_batch(texts).await?.into_iter();
        for record in records.iter_mut().filter(|record| record.kind.is_memory() && !record.row.contains_key("vector"))
        {
            if let Some(vector) = vectors.next() {
                record::set_vector(&mut record.row, &vector, model);
            }
        }
        Ok(())
    }
}

fn header(first: Option<Line>) -> Result<Header, TransferError> {
    let first = first.ok_or_else(|| TransferError::NotAnExport("it is empty".to_owned()))?;
    let value: Value = serde_json::from_str(&first.text)
        .map_err(|error| TransferError::NotAnExport(format!("its first line is not JSON: {error}")))?;
    if value["format"] != FORMAT {
        return Err(TransferError::NotAnExport("its first line is not a header".to_owned()));
    }
    let found = value["version"].as_u64().and_then(|version| u32::try_from(version).ok()).unwrap_or(u32::MAX);
    if found > VERSION {
        return Err(TransferError::Newer { found, supported: VERSION });
    }
    serde_json::from_value(value).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

fn count(kind: Kind, written: &Written, lines: &[u64], rows: &[Value], report: &mut ImportReport) {
    let tally = report.tally(kind.as_str());
    tally.created += written.created.len() as u64;
    tally.existing += written.existing.len() as u64;
    tally.left_out += written.taken.len() as u64;
    if kind == Kind::Event {
        report.events_elsewhere += written.taken.len() as u64;
    }
    let name = |at: usize| format!("{} {}", kind.as_str(), rows[at]["id"].as_str().unwrap_or_default());
    for at in &written.taken {
        let why = match kind {
            Kind::Fact => {
                "collides with another row: its id, or an active fact with the same subject, predicate and scope"
            }
            Kind::Entity => "collides with another row: its id, or an entity of the same name and type",
            Kind::RuleApplication => "belongs to a rule that this tenant does not have",
            _ => "collides with another row",
        };
        report.problem(lines.get(*at).copied(), format!("{} {why}", name(*at)));
    }
}

/// Compares the number of lines with the header, which reveals a truncated file.
fn report_missing_lines(header: &Header, report: &mut ImportReport) {
    for (kind, expected) in &header.counts {
        let read = report.kinds.get(kind).map_or(0, |tally| tally.read);
        if read < *expected {
            report.problem(
                None,
                format!(
                    "the file has {read} of {expected} lines of type {kind}; it is truncated, or lines are invalid"
                ),
            );
        }
    }
}
