import { type FormEvent, useState } from 'react'
import { useRejection } from '../api/live'
import { session } from '../api/session'
import { createTokenCommand } from '../lib/commands'
import { Button } from '../ui/Button'
import { CopyBlock } from '../ui/CopyBlock'
import { Page } from '../ui/Page'

/** The server wants a bearer token: ask for it, and keep it for this tab only. */
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
      title="This server wants a token"
      lead="Tokens are on, so every request carries one. It is kept in this tab and gone when you close it."
    >
      <form onSubmit={submit} className="card max-w-xl space-y-4 p-6">
        {tried && (
          <p role="alert" className="text-harm">
            <span aria-hidden="true">✕ </span>The token was refused: {rejection}.
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
          {tried && <Button onClick={() => session.setToken(null)}>Forget the old one</Button>}
        </div>
        <div>
          <p className="mb-2 text-sm text-muted">Make one on the machine the server runs on:</p>
          <CopyBlock text={createTokenCommand('read,write,admin')} label="command that makes a token" />
        </div>
      </form>
    </Page>
  )
}
