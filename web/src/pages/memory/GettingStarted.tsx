import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { endpoint } from '../../lib/endpoint'
import { claudeCode } from '../../lib/snippets'
import { CopyBlock } from '../../ui/CopyBlock'

/** The first visit: nothing has been stored, because nothing is connected yet. */
export function GettingStarted() {
  const server = useGet('/api/server')
  const tokens = server.data?.data.auth_required ?? false
  const { client, text } = claudeCode(endpoint('/mcp'), tokens)
  return (
    <div className="card p-6 sm:p-8">
      <h2 className="font-serif text-2xl">Nothing is remembered yet.</h2>
      <p className="mt-2 max-w-prose text-muted">
        Connect an agent, and what it learns appears here by itself: what is known, how sure, and until when.
      </p>
      <div className="mt-6 grid gap-6 md:grid-cols-2">
        <div>
          <h3 className="mb-2 font-medium">Connect {client}</h3>
          <CopyBlock label={`what connects ${client}`} text={text} />
          <p className="mt-2 text-sm text-muted">
            {tokens && 'YOUR_TOKEN is a token of this tenant. '}Other clients: see{' '}
            <Link to="/settings" className="link">
              Settings
            </Link>
            .
          </p>
        </div>
        <div>
          <h3 className="mb-2 font-medium">Or look around first</h3>
          <CopyBlock label="command that fills a demo butler" text="butler demo" />
          <p className="mt-2 text-sm text-muted">
            Fills a scratch butler with half a year of a believable life. It is removed with --remove.
          </p>
        </div>
      </div>
    </div>
  )
}
