import { type FormEvent, useState } from 'react'
import { useRejection } from '../api/live'
import { session } from '../api/session'
import { createTokenCommand } from '../lib/commands'
import { Button } from '../ui/Button'
import { CopyBlock } from '../ui/CopyBlock'
import { Page } from '../ui/Page'

/** Asks for the token that the server requires, and keeps it for this tab only. */
export function TokenGate() {
  const [token, setToken] = useState('')
  const tried = Boolean(session.token())
  const rejection = useRejection()
  function submit(event: FormEvent) {
    event.preventDefault()
    if (token.trim()) session.setToken(token.trim())
  }
  return (
    <Page
      title="This server requires a token"
      lead="The token is kept for this tab only and discarded when you close it."
    >
      <form onSubmit={submit} className="card max-w-xl space-y-4 p-6">
        {tried && (
          <p role="alert" className="text-harm">
            <span aria-hidden="true">✕ </span>The token was rejected: {rejection}.
          </p>
        )}
        <label className="block">
          <span className="label">Token</span>
          <input
            type="password"
            autoComplete="off"
            className="control mt-1 w-full font-mono"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <div className="flex gap-2">
          <Button type="submit" variant="primary" disabled={!token.trim()}>
            Use this token
          </Button>
          {tried && <Button onClick={() => session.setToken(null)}>Discard the old token</Button>}
        </div>
        <div>
          <p className="mb-2 text-sm text-muted">Create one on the server’s machine:</p>
          <CopyBlock text={createTokenCommand('read,write,admin')} label="the command that creates a token" />
        </div>
      </form>
    </Page>
  )
}
