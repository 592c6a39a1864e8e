import { showNewToken, useNewToken } from '../api/new-token'
import { Button } from '../ui/Button'
import { CopyBlock } from '../ui/CopyBlock'
import { Dialog } from '../ui/Dialog'

/** The one time a token is seen. */
export function NewTokenDialog() {
  const made = useNewToken()
  if (!made) return null
  const close = () => showNewToken(null)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={made.name ? `Token “${made.name}”` : 'The new token'}
      description="Copy it now: the server keeps only its hash and cannot show it again."
    >
      <CopyBlock label="the new token" text={made.token} />
      {made.inUse && (
        <p className="mt-3 text-sm text-muted">
          Tokens are on from now on. This tab uses this one until you close it; every agent needs one too.
        </p>
      )}
      <div className="mt-5 flex justify-end">
        <Button variant="primary" onClick={close}>
          I have it
        </Button>
      </div>
    </Dialog>
  )
}
