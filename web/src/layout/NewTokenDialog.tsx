import { useState } from 'react'
import { showNewToken, useNewToken } from '../api/new-token'
import { endpoint } from '../lib/endpoint'
import { snippets } from '../lib/snippets'
import { Button } from '../ui/Button'
import { CopyBlock } from '../ui/CopyBlock'
import { Dialog } from '../ui/Dialog'
import { Segments } from '../ui/Segments'

/** What the owner of the token enters to connect an agent, with the token in it. */
function Snippet({ token, butler }: { token: string; butler: string | null }) {
  const [client, setClient] = useState('Claude Code')
  const path = butler ? `/butlers/${encodeURIComponent(butler)}/mcp` : '/mcp'
  const all = snippets(endpoint(path), token).filter(({ text }) => text.includes(token))
  const chosen = all.find((snippet) => snippet.client === client) ?? all[0]
  return (
    <div className="mt-5 space-y-2">
      <p className="text-sm text-muted">Or send your colleague what connects their agent at once:</p>
      <Segments
        label="Client"
        value={client}
        options={all.map((snippet): [string, string] => [snippet.client, snippet.client])}
        onChange={setClient}
      />
      {chosen && (
        <>
          <p className="text-sm">{chosen.instruction}</p>
          <CopyBlock label={`the ${chosen.client} configuration with the token`} text={chosen.text} />
        </>
      )}
    </div>
  )
}

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
      wide
      description="Copy the token now: the server stores only its hash and cannot show it again."
    >
      <CopyBlock label="the new token" text={made.token} />
      {made.connects && !made.inUse && <Snippet token={made.token} butler={made.butler} />}
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
