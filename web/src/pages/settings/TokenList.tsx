import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import type { TokenItem } from '../../api/schema'
import { session } from '../../api/session'
import { cx } from '../../lib/cx'
import { capitalized } from '../../lib/labels'
import { Badge } from '../../ui/Badge'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Failure, Loading } from '../../ui/states'
import { Time } from '../../ui/Time'
import { failure, toast } from '../../ui/toast'

interface RowProps {
  token: TokenItem
  parent?: TokenItem
  own: boolean
  onRevoke: () => void
}

function Row({ token, parent, own, onRevoke }: RowProps) {
  const active = token.state === 'active'
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className={cx('flex flex-wrap items-center gap-x-2 font-medium break-words', !active && 'text-muted')}>
          {token.name || 'Unnamed token'}
          {own && <Badge tone="accent">● this tab</Badge>}
          {!active && <Badge>✕ {token.state}</Badge>}
        </p>
        <p className="text-sm text-muted">
          {capitalized(token.rights.join(', '))} {token.tenant ? `in tenant ${token.tenant}` : 'for all tenants'}
          {token.butler && `, butler ${token.butler} only`} ·{' '}
          {token.last_used_at ? (
            <>
              used <Time at={token.last_used_at} />
            </>
          ) : (
            'never used'
          )}
          {active && token.expires_at && (
            <>
              {' '}
              · expires <Time at={token.expires_at} />
            </>
          )}
          {token.grace_until && (
            <>
              {' '}
              · old secret until <Time at={token.grace_until} />
            </>
          )}
          {parent && ` · made by ${parent.name || 'an unnamed token'}`}
        </p>
      </div>
      {active && (
        <Button size="small" variant="danger" onClick={onRevoke} aria-label={`Revoke token ${token.name || token.id}`}>
          Revoke
        </Button>
      )}
    </li>
  )
}

/** The tokens of this server. It stores only their hashes, so a token is never shown again. */
export function TokenList({ own }: { own?: string | null }) {
  const client = useQueryClient()
  const tokens = useGet('/api/tokens')
  const [revoking, setRevoking] = useState<TokenItem | null>(null)
  const revoke = useMutation({
    mutationFn: (token: TokenItem) => request('delete', '/api/tokens/{id}', { path: { id: token.id } }),
    onSuccess: (_, token) => {
      setRevoking(null)
      toast('Token revoked.')
      if (token.id === own) session.setToken(null)
      return client.invalidateQueries()
    },
    onError: failure('Not revoked'),
  })
  if (tokens.isPending) return <Loading rows={2} />
  if (tokens.isError) return <Failure error={tokens.error} retry={() => void tokens.refetch()} />
  if (tokens.data.data.length === 0) return null
  const order = (token: TokenItem) => (token.state === 'active' ? 0 : 1)
  const list = [...tokens.data.data].sort(
    (a, b) => order(a) - order(b) || Date.parse(b.created_at) - Date.parse(a.created_at),
  )
  const last = list.filter((token) => token.state === 'active').length === 1
  return (
    <>
      <ul
        aria-label="Tokens"
        className="card max-h-96 divide-y divide-line overflow-y-auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the list cannot be scrolled by keyboard
        tabIndex={0}
      >
        {list.map((token) => (
          <Row
            key={token.id}
            token={token}
            parent={list.find((one) => one.id === token.parent_id)}
            own={token.id === own}
            onRevoke={() => setRevoking(token)}
          />
        ))}
      </ul>
      {revoking && (
        <Dialog
          open
          onOpenChange={(open) => !open && setRevoking(null)}
          title={`Revoke ${revoking.name ? `“${revoking.name}”` : 'this token'}?`}
          description={[
            revoking.id === own
              ? 'This tab uses this token and will ask for another one.'
              : 'Every client that uses this token, or a token that it made, loses access immediately.',
            last
              ? 'This is the last token. To sign in again, run butler token create on the server’s machine.'
              : 'This cannot be undone.',
          ].join(' ')}
        >
          <div className="flex justify-end gap-2">
            <Button onClick={() => setRevoking(null)}>Cancel</Button>
            <Button variant="danger" busy={revoke.isPending} onClick={() => revoke.mutate(revoking)}>
              Revoke permanently
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
