import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asApiError } from '../../api/error'
import { missingRight, useHasRight } from '../../api/rights'
import { type ImportReport, upload } from '../../api/transfer'
import { counted } from '../../lib/number'
import { suppressedReasons } from '../../memory/suppressed'
import { Button } from '../../ui/Button'
import { Progress } from '../../ui/Progress'

const SHOWN_PROBLEMS = 5

function Report({ report }: { report: ImportReport }) {
  const kinds = Object.entries(report.kinds).filter(([, tally]) => tally.read > 0)
  const created = kinds.reduce((sum, [, tally]) => sum + tally.created, 0)
  return (
    <div role="status" className="card space-y-2 p-4">
      <p className="font-medium">
        {report.dry_run
          ? `This file would add ${counted(created, 'row')}.`
          : report.committed
            ? `Imported: ${counted(created, 'new row')}.`
            : 'Nothing was imported, because the file has problems.'}
      </p>
      <ul className="text-sm text-muted">
        {kinds.map(([kind, tally]) => (
          <li key={kind} className="figure">
            {kind}: {tally.created} new, {tally.existing} already present
            {tally.suppressed && `, ${tally.suppressed} left out (${suppressedReasons(tally.suppressed_by)})`}
            {tally.left_out > 0 && `, ${tally.left_out} skipped`}
          </li>
        ))}
        {report.problems.slice(0, SHOWN_PROBLEMS).map(({ line, message }) => (
          <li key={`${line}${message}`} className="break-words text-harm">
            {line ? `Line ${line}: ` : ''}
            {message}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Uploads an export, or the memories of another program. A file is checked before it is imported. */
export function Import({ butler }: { butler: string | undefined }) {
  const client = useQueryClient()
  const isAdmin = useHasRight('admin')
  const [file, setFile] = useState<File | null>(null)
  const [done, setDone] = useState<number | null>(null)
  const run = useMutation({
    mutationFn: (dryRun: boolean) => {
      if (!file) throw new Error('no file is chosen')
      return upload('/api/import', { butler, dry_run: dryRun }, file, setDone)
    },
    onSuccess: (report) => (report.committed ? client.invalidateQueries() : undefined),
    onSettled: () => setDone(null),
  })
  if (!isAdmin) return <p className="text-sm text-muted">{missingRight.admin}</p>
  const error = run.isError ? asApiError(run.error) : null
  return (
    <div className="space-y-3">
      <p className="max-w-prose text-muted">
        An export of butler, or the memory of another program: mem0, the MCP memory server, or a CLAUDE.md. What exists
        is not changed.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <input
          type="file"
          aria-label="File to import"
          className="max-w-full text-sm"
          onChange={(event) => {
            setFile(event.target.files?.[0] ?? null)
            run.reset()
          }}
        />
        <Button disabled={!file} busy={run.isPending} onClick={() => run.mutate(true)}>
          Check the file
        </Button>
        <Button variant="primary" disabled={!file} busy={run.isPending} onClick={() => run.mutate(false)}>
          Import
        </Button>
        {run.isPending && <Progress label="Upload" value={done} />}
      </div>
      {run.data && <Report report={run.data} />}
      {error && (
        <p role="alert" className="break-words text-harm">
          <span aria-hidden="true">✕ </span>
          {error.message} {error.hint}
        </p>
      )}
    </div>
  )
}
