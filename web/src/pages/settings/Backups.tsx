import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import { command } from '../../lib/commands'
import { bytes, counted } from '../../lib/number'
import { Button } from '../../ui/Button'
import { CopyBlock } from '../../ui/CopyBlock'
import { Failure, Loading } from '../../ui/states'
import { Time } from '../../ui/Time'
import { failure, toast } from '../../ui/toast'

/** The backups of the whole database, of all tenants. */
export function Backups({ butler }: { butler: string | undefined }) {
  const client = useQueryClient()
  const server = useGet('/api/server').data?.data
  const isAdmin = useHasRight('admin')
  // a token belongs to one tenant, but a backup contains all tenants
  const hasToken = server?.token_id != null
  const list = useGet('/api/backups', { query: { butler } }, { enabled: isAdmin && server !== undefined && !hasToken })
  const create = useMutation({
    mutationFn: () => request('post', '/api/backups', { query: { butler } }),
    onSuccess: ({ data }) => {
      toast(`Backed up ${data.home} (${bytes(data.bytes)}).`)
      return client.invalidateQueries()
    },
    onError: failure('Not backed up'),
  })
  if (!isAdmin) return <p className="text-sm text-muted">{missingRight.admin}</p>
  if (hasToken)
    return (
      <p className="max-w-prose text-sm text-muted">
        A backup contains all tenants, so a token cannot list or create one. Use <code>butler backup</code> on the
        server’s machine.
      </p>
    )
  return (
    <div className="space-y-3">
      <p className="max-w-prose text-muted">
        A backup contains the whole database of a butler with all tenants. Restore one on the server’s machine.
      </p>
      {list.isPending ? (
        <Loading rows={2} />
      ) : list.isError ? (
        <Failure error={list.error} retry={() => void list.refetch()} />
      ) : list.data.data.length === 0 ? (
        <p>There is no backup yet.</p>
      ) : (
        <ul aria-label="Backups" className="card divide-y divide-line">
          {list.data.data.map((backup) => (
            <li key={`${backup.home}${backup.name}`} className="flex flex-wrap gap-x-4 gap-y-1 px-4 py-2.5">
              <span className="min-w-0 flex-1 basis-56 font-mono text-sm break-all">{backup.name}</span>
              <span className="text-sm text-muted">
                {backup.home} · <Time at={backup.created_at} /> · {bytes(backup.bytes)} ·{' '}
                {counted(backup.facts, 'fact')}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Button busy={create.isPending} onClick={() => create.mutate()}>
        Back up now
      </Button>
      <CopyBlock label="the command that verifies the latest backup" text={command('backup verify', server, butler)} />
      <CopyBlock label="the command that restores the latest backup" text={command('backup restore', server, butler)} />
    </div>
  )
}
