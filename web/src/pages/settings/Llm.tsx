import { useMutation } from '@tanstack/react-query'
import { request } from '../../api/client'
import { asApiError } from '../../api/error'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import { noteLlmTested } from '../../lib/onboarding'
import { Button } from '../../ui/Button'

/** Asks the LLM for one word, to see whether consolidation can work. */
export function Llm({ butler }: { butler?: string | undefined }) {
  const server = useGet('/api/server').data?.data
  const isAdmin = useHasRight('admin')
  const test = useMutation({
    mutationFn: () => request('post', '/api/llm-test', { query: { butler } }),
    onSuccess: noteLlmTested,
  })
  if (server && !server.runtime_configured)
    return (
      <p className="max-w-prose text-muted">
        No LLM is configured, so episodes are stored but nothing is learned from them. Add [butler.runtime] to
        butler.toml and restart the server.
      </p>
    )
  const error = test.isError ? asApiError(test.error) : null
  return (
    <div className="space-y-2">
      {isAdmin ? (
        <Button busy={test.isPending} onClick={() => test.mutate()}>
          Test the LLM
        </Button>
      ) : (
        <p className="text-sm text-muted">{missingRight.admin}</p>
      )}
      <div role="status">
        {test.data && (
          <p className="break-words">
            <span className="text-accent">✓ {test.data.data.runtime}</span> answered “{test.data.data.answer}” in{' '}
            <span className="figure">{(test.data.data.took_ms / 1000).toFixed(1)} s</span>.
          </p>
        )}
        {error && (
          <p className="break-words text-harm">
            ✕ {error.message} {error.hint}
          </p>
        )}
      </div>
    </div>
  )
}
