import { type FormEvent, useState, useSyncExternalStore } from 'react'
import { useGet } from '../api/hooks'
import { session } from '../api/session'
import { cx } from '../lib/cx'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'

/** Selects the tenant. Shown only without tokens, because a token belongs to one tenant. */
export function TenantSwitch({ className, onChange }: { className: string; onChange?: () => void }) {
  const tenant = useSyncExternalStore(session.subscribe, session.tenant, session.tenant) ?? 'default'
  const server = useGet('/api/server')
  const [open, setOpen] = useState(false)
  const [name, setName] = useState(tenant)
  if (!server.data?.data.tenant_selectable) return null
  function choose(next: string | null) {
    session.setTenant(next)
    setOpen(false)
    onChange?.()
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    choose(name.trim() || null)
  }
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setName(tenant)
          setOpen(true)
        }}
        className={cx('items-center gap-1.5 rounded-md text-sm text-muted hover:bg-sunken hover:text-ink', className)}
      >
        Tenant <span className="max-w-32 truncate font-medium text-ink">{tenant}</span>
      </button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Tenant"
        description="Tenants never see each other’s memories. Tokens are off, so you can view any tenant."
      >
        <form onSubmit={submit} className="space-y-4">
          <label className="block">
            <span className="label">Name</span>
            <input className="control mt-1 w-full" value={name} onChange={(event) => setName(event.target.value)} />
          </label>
          <div className="flex gap-2">
            <Button type="submit" variant="primary">
              Switch tenant
            </Button>
            {tenant !== 'default' && <Button onClick={() => choose(null)}>Back to default</Button>}
          </div>
        </form>
      </Dialog>
    </>
  )
}
