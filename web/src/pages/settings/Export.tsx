import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import { download } from '../../api/transfer'
import { command } from '../../lib/commands'
import { bytes } from '../../lib/number'
import { Button } from '../../ui/Button'
import { CopyBlock } from '../../ui/CopyBlock'
import { Progress } from '../../ui/Progress'
import { failure, toast } from '../../ui/toast'

/** Downloads everything that the tenant owns. */
export function Export({ butler }: { butler: string | undefined }) {
  const server = useGet('/api/server').data?.data
  const isAdmin = useHasRight('admin')
  const [done, setDone] = useState<number | null>(null)
  const run = useMutation({
    mutationFn: () => download('/api/export', { butler }, (read, total) => setDone(total ? read / total : null)),
    onSuccess: ({ name, size }) => toast(`Saved ${name} (${bytes(size)}).`),
    onError: failure('Not exported'),
    onSettled: () => setDone(null),
  })
  return (
    <div className="space-y-3">
      <p className="max-w-prose text-muted">
        Everything that the tenant {server?.tenant ?? ''} owns, as JSON Lines. Importing it again is safe.
      </p>
      {isAdmin ? (
        <div className="flex flex-wrap items-center gap-3">
          <Button busy={run.isPending} onClick={() => run.mutate()}>
            Download the export
          </Button>
          {run.isPending && <Progress label="Download" value={done} />}
        </div>
      ) : (
        <p className="text-sm text-muted">{missingRight.admin}</p>
      )}
      <CopyBlock label="the export command" text={command('export --output memory.jsonl', server, butler)} />
    </div>
  )
}
