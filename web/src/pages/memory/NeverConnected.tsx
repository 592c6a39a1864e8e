import { CopyBlock } from '../../ui/CopyBlock'
import { endpoint } from '../../lib/endpoint'

/** The first visit: nothing has been stored, because nothing is connected yet. */
export function NeverConnected() {
  return (
    <div className="card p-6 sm:p-8">
      <h2 className="font-serif text-2xl">Nothing is remembered yet.</h2>
      <p className="mt-2 max-w-prose text-muted">
        Connect an agent, and what it learns appears here by itself: what is known, how sure, and until when.
      </p>
      <div className="mt-6 grid gap-6 md:grid-cols-2">
        <div>
          <h3 className="mb-2 font-medium">Connect Claude Code</h3>
          <CopyBlock label="command that connects Claude Code" text={`claude mcp add --transport http butler-memory ${endpoint('/mcp')}`} />
          <p className="mt-2 text-sm text-muted">Other clients: see Settings.</p>
        </div>
        <div>
          <h3 className="mb-2 font-medium">Or look around first</h3>
          <CopyBlock label="command that fills a demo butler" text="butler demo" />
          <p className="mt-2 text-sm text-muted">Fills a scratch butler with half a year of a believable life. It is removed with --remove.</p>
        </div>
      </div>
    </div>
  )
}
