import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { endpoint } from '../../lib/endpoint'
import { claudeCode } from '../../lib/snippets'
import { CopyBlock } from '../../ui/CopyBlock'

/** Shown while the memory is empty: how to connect an agent. */
export function GettingStarted() {
  const server = useGet('/api/server')
  const tokens = server.data?.data.auth_required ?? false
  const { client, text } = claudeCode(endpoint('/mcp'), tokens)
  return (
    <div className="card p-6 sm:p-8">
      <h2 className="font-serif text-2xl">Nothing is remembered yet.</h2>
      <p className="mt-2 max-w-prose text-muted">Connect an agent. What it learns appears here as it happens.</p>
      <div className="mt-6 grid gap-6 md:grid-cols-2">
        <div>
          <h3 className="mb-2 font-medium">Connect {client}</h3>
          <CopyBlock label={`the ${client} configuration`} text={text} />
          <p className="mt-2 text-sm text-muted">
            {tokens && 'Replace YOUR_TOKEN with a token of this tenant. '}For other clients, see{' '}
            <Link to="/settings" className="link">
              Settings
            </Link>
            .
          </p>
        </div>
        <div>
          <h3 className="mb-2 font-medium">Or explore a demo first</h3>
          <CopyBlock label="the demo command" text="butler demo" />
          <p className="mt-2 text-sm text-muted">
            Creates a demo butler with half a year of sample memories. Remove it with --remove.
          </p>
        </div>
      </div>
    </div>
  )
}
