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
    return 'Tokens are off: the server accepts every program on its own machine. Creating a token turns them on.'
  const where = `in tenant ${server.tenant}${server.butler ? `, butler ${server.butler} only` : ''}`
  return `Tokens are on. This tab’s token grants ${server.rights.join(', ')} ${where}.`
}

/** Lists and creates tokens. Without the admin right it shows the command for the server's machine instead. */
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
        {session.token() && <Button onClick={() => session.setToken(null)}>Sign out</Button>}
      </div>
      {!isAdmin && (
        <>
          <p className="text-sm text-muted">{missingRight.admin} On the server’s machine, run:</p>
          <CopyBlock label="the command that creates a token" text={createTokenCommand('read,write', view.tenant)} />
        </>
      )}
      {making && <CreateToken server={view} onClose={() => setMaking(false)} />}
    </div>
  )
}
