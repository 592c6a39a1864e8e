import { Button } from '../ui/Button'
import { Page } from '../ui/Page'

/** Shown when a page throws while rendering. */
export function ErrorPage({ error }: { error: unknown }) {
  return (
    <Page title="This page failed to render" lead="This is a bug in the dashboard. Your memory is unchanged.">
      <pre className="card overflow-x-auto p-4 font-mono text-sm whitespace-pre-wrap">
        {error instanceof Error ? error.message : String(error)}
      </pre>
      <Button className="mt-4" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </Page>
  )
}
