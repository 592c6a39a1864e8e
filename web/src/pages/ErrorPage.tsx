import { Button } from '../ui/Button'
import { Page } from '../ui/Page'

/** A fault of the page itself: say so and offer the way out. */
export function ErrorPage({ error }: { error: unknown }) {
  return (
    <Page title="This page failed" lead="That is a fault of the dashboard, not of your memory: nothing was changed.">
      <pre className="card overflow-x-auto p-4 font-mono text-sm whitespace-pre-wrap">
        {error instanceof Error ? error.message : String(error)}
      </pre>
      <Button className="mt-4" onClick={() => window.location.reload()}>
        Load it again
      </Button>
    </Page>
  )
}
