import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import type { GrantItem } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { Badge } from '../../ui/Badge'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Section } from '../../ui/Section'
import { Time } from '../../ui/Time'
import { failure, toast } from '../../ui/toast'

function host(uri: string): string {
  try {
    return new URL(uri).host || uri
  } catch {
    return uri
  }
}

function Row({ grant, onRevoke }: { grant: GrantItem; onRevoke: () => void }) {
  const active = grant.state === 'active'
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-x-2 font-medium break-words">
          {grant.client_name}
          {!active && <Badge>✕ {grant.state}</Badge>}
        </p>
        <p className="text-sm text-muted">
          {capitalized(grant.rights.join(', '))} in tenant {grant.tenant}, butler {grant.butler} · returns to{' '}
          {host(grant.redirect_uri)} · allowed <Time at={grant.created_at} /> ·{' '}
          {grant.last_used_at ? (
            <>
              used <Time at={grant.last_used_at} />
            </>
          ) : (
            'never used'
          )}
        </p>
      </div>
      {active && (
        <Button
          size="small"
          variant="danger"
          onClick={onRevoke}
          aria-label={`Revoke the grant of ${grant.client_name}`}
        >
          Revoke
        </Button>
      )}
    </li>
  )
}

/** What people allowed OAuth clients. Nothing is shown without such a client, or without the right to see them. */
export function Grants() {
  const client = useQueryClient()
  const grants = useGet('/api/grants')
  const [revoking, setRevoking] = useState<GrantItem | null>(null)
  const revoke = useMutation({
    mutationFn: (grant: GrantItem) => request('delete', '/api/grants/{id}', { path: { id: grant.id } }),
    onSuccess: () => {
      setRevoking(null)
      toast('Grant revoked.')
      return client.invalidateQueries()
    },
    onError: failure('Not revoked'),
  })
  const list = grants.data?.data ?? []
  if (list.length === 0) return null
  return (
    <Section title="Connected by OAuth">
      <ul aria-label="Grants" className="card divide-y divide-line">
        {list.map((grant) => (
          <Row key={grant.id} grant={grant} onRevoke={() => setRevoking(grant)} />
        ))}
      </ul>
      {revoking && (
        <Dialog
          open
          onOpenChange={(open) => !open && setRevoking(null)}
          title={`Revoke the grant of “${revoking.client_name}”?`}
          description="The client loses access immediately. It can ask for it again."
        >
          <div className="flex justify-end gap-2">
            <Button onClick={() => setRevoking(null)}>Cancel</Button>
            <Button variant="danger" busy={revoke.isPending} onClick={() => revoke.mutate(revoking)}>
              Revoke
            </Button>
          </div>
        </Dialog>
      )}
    </Section>
  )
}
