import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { request } from '../../api/client'
import { asApiError } from '../../api/error'
import { useGet } from '../../api/hooks'
import { showNewToken } from '../../api/new-token'
import type { ServerView } from '../../api/schema'
import { session } from '../../api/session'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Select } from '../../ui/Select'

const rights: [string, string][] = [
  ['read', 'Read'],
  ['read,write', 'Read and write'],
  ['read,write,admin', 'Read, write and admin'],
]
/** Metrics cover all tenants, so this right cannot be combined with others and belongs to no tenant. */
const metrics: [string, string] = ['metrics', 'Metrics only']
const expiries: [string, string][] = [
  ['never', 'Never expires'],
  ['30d', 'Expires in 30 days'],
  ['90d', 'Expires in 90 days'],
  ['1y', 'Expires in a year'],
]

/** Creates a token. The first one has every right and turns tokens on, so the dialog explains the consequences. */
export function CreateToken({ server, onClose }: { server: ServerView; onClose: () => void }) {
  const first = !server.auth_required
  const [name, setName] = useState('')
  const [chosenRights, setChosenRights] = useState(first ? 'read,write,admin' : 'read,write')
  const [expires, setExpires] = useState('never')
  const [butler, setButler] = useState('')
  const butlers = useGet('/api/butlers')
  const metricsOnly = chosenRights === metrics[0]
  const client = useQueryClient()
  const create = useMutation({
    mutationFn: () =>
      request('post', '/api/tokens', {
        body: {
          name: name.trim() || null,
          rights: chosenRights.split(','),
          butler: (!metricsOnly && butler) || null,
          expires,
        },
      }),
    onSuccess: ({ data }) => {
      const only = (!metricsOnly && butler) || null
      showNewToken({ token: data.token, name: data.name, inUse: first, connects: !metricsOnly, butler: only })
      onClose()
      // from now on this page needs a token too
      if (first) session.setToken(data.token)
      return client.invalidateQueries()
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate()
  }
  const rightsOptions = server.rights.includes('metrics') && !first ? [...rights, metrics] : rights
  const names = (butlers.data?.data ?? []).map((one): [string, string] => [one.name, `Only ${one.name}`])
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="New token"
      description={
        metricsOnly
          ? 'It can read /metrics, which covers all tenants, but no memories.'
          : `It gives access to the tenant ${server.tenant} only.`
      }
    >
      <form onSubmit={submit} className="space-y-4">
        {first && (
          <p role="note" className="rounded-md border border-fading/40 bg-fading-wash px-3 py-2 text-sm">
            <strong className="font-medium text-fading">◌ This is the first token.</strong> Once it exists, every
            request requires a token: this page, the API and every connected agent. Create a separate token for each
            agent, and keep this one for yourself.
          </p>
        )}
        <label className="block">
          <span className="label">Name</span>
          <input
            className="control mt-1 w-full"
            value={name}
            maxLength={100}
            placeholder="Claude Code on the laptop"
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <div className="flex flex-wrap gap-2">
          <Select label="Rights" value={chosenRights} options={rightsOptions} onChange={setChosenRights} />
          <Select label="Expiry" value={expires} options={expiries} onChange={setExpires} />
          {!server.butler && !metricsOnly && names.length > 1 && (
            <Select label="Butler" value={butler} options={[['', 'All butlers'], ...names]} onChange={setButler} />
          )}
        </div>
        {create.isError && (
          <p role="alert" className="break-words text-harm">
            <span aria-hidden="true">✕ </span>
            {asApiError(create.error).message} {asApiError(create.error).hint}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            {first ? 'Turn tokens on' : 'Create token'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
