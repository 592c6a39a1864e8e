import { showNewToken, useNewToken } from '../api/new-token'
import { Button } from '../ui/Button'
import { CopyBlock } from '../ui/CopyBlock'
import { Dialog } from '../ui/Dialog'

/** Shows a new token, once. */
export function NewTokenDialog() {
  const made = useNewToken()
  if (!made) return null
  const close = () => showNewToken(null)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={made.name ? `Token “${made.name}”` : 'New token'}
      description="Copy the token now: the server stores only its hash and cannot show it again."
    >
      <CopyBlock label="the new token" text={made.token} />
      {made.inUse && (
        <p className="mt-3 text-sm text-muted">
          Every request now requires a token. This tab uses this one until you close it; each agent needs its own.
        </p>
      )}
      <div className="mt-5 flex justify-end">
        <Button variant="primary" onClick={close}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
