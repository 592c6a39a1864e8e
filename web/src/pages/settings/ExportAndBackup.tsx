import { CopyBlock } from '../../ui/CopyBlock'

/** The commands that export and back up the memory. */
export function ExportAndBackup() {
  return (
    <div className="space-y-3">
      <p className="text-muted">
        An export contains everything a tenant owns, as JSON Lines. Importing it again is safe. A backup contains the
        whole database.
      </p>
      <CopyBlock label="the export command" text="butler export --output memory.jsonl" />
      <CopyBlock label="the backup command" text="butler backup create" />
      <CopyBlock label="the command that verifies the latest backup" text="butler backup verify" />
    </div>
  )
}
