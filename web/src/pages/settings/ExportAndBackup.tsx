import { CopyBlock } from '../../ui/CopyBlock'

/** Memory belongs to its owner: how to take it away, and how to keep it safe. */
export function ExportAndBackup() {
  return (
    <div className="space-y-3">
      <p className="text-muted">
        Export writes everything a tenant owns as JSON lines; import reads it back, twice without harm. A backup is the
        whole database.
      </p>
      <CopyBlock label="command that exports" text="butler export --output memory.jsonl" />
      <CopyBlock label="command that makes a backup" text="butler backup create" />
      <CopyBlock label="command that checks the latest backup" text="butler backup verify" />
    </div>
  )
}
