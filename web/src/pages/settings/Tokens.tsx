import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { missingRight } from '../../api/rights'
import type { ServerView } from '../../api/schema'
import { session } from '../../api/session'
import { createTokenCommand } from '../../lib/commands'
import { Button } from '../../ui/Button'
import { CopyBlock } from '../../ui/CopyBlock'
import { Failure, Loading } from '../../ui/states'
import { CreateToken } from './CreateToken'
import { TokenList } from './TokenList'

function state(server: ServerView): string {
  if (!server.auth_required)
    return 'Tokens are off: this server listens on its own machine only and trusts every program there. The first token turns them on, for everything.'
  const where = `in tenant ${server.tenant}${server.butler ? `, with ${server.butler} alone` : ''}`
  return `Tokens are on. This visit may ${server.rights.join(', ')} ${where}.`
}

/** Who is let in. Whoever may not manage tokens here is told how it is done on the server's machine. */
export function Tokens() {
  const server = useGet('/api/server')
  const [making, setMaking] = useState(false)
  if (server.isPending) return <Loading rows={2} />
  if (server.isError) return <Failure error={server.error} retry={() => void server.refetch()} />
  const view = server.data.data
  const isAdmin = view.rights.includes('admin')
  return (
    <div className="space-y-3">
      <p className="max-w-prose text-muted">{state(view)}</p>
      {isAdmin && <TokenList own={view.token_id} />}
      <div className="flex flex-wrap gap-2">
        {isAdmin && <Button onClick={() => setMaking(true)}>New token</Button>}
        {session.token() && <Button onClick={() => session.setToken(null)}>Sign out of this tab</Button>}
      </div>
      {!isAdmin && (
        <>
          <p className="text-sm text-muted">{missingRight.admin} On the server’s own machine:</p>
          <CopyBlock label="command that makes a token" text={createTokenCommand('read,write', view.tenant)} />
        </>
      )}
      {making && <CreateToken server={view} onClose={() => setMaking(false)} />}
    </div>
  )
}
