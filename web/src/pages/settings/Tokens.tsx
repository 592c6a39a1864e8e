import { useGet } from '../../api/hooks'
import { session } from '../../api/session'
import { Button } from '../../ui/Button'
import { CopyBlock } from '../../ui/CopyBlock'

/** Tokens are made and revoked on the server's own machine, so here is what this visit may do and the commands. */
export function Tokens() {
  const server = useGet('/api/server')
  const state = server.data?.data
  return (
    <div className="space-y-3">
      <p className="text-muted">
        {state?.auth_required
          ? `Tokens are on. This visit may ${state.rights.join(', ')} in tenant ${state.tenant}${state.butler ? `, with ${state.butler} alone` : ''}.`
          : 'Tokens are off: the server listens on this machine only and trusts its callers. The first token turns them on for everybody.'}
      </p>
      <CopyBlock label="command that makes a token" text="butler token create --tenant default --rights read,write" />
      <CopyBlock label="command that lists tokens" text="butler token list" />
      {session.token() && <Button onClick={() => session.setToken(null)}>Sign out of this tab</Button>}
    </div>
  )
}
