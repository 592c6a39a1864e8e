import type { ReactNode } from 'react'
import { asApiError } from '../api/error'
import { Button } from './Button'

/** The state of a list without items. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="rounded-lg border border-dashed border-line-strong/50 px-6 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="mx-auto mt-2 max-w-prose text-muted">{children}</div>}
    </div>
  )
}

/** The state while data is loading. */
export function Loading({ rows = 5, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="space-y-3 py-2">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the placeholder rows are all alike
        <div key={index} className="flex gap-4">
          <div className="skeleton h-4 w-24" />
          <div className="skeleton h-4 flex-1" />
          <div className="skeleton hidden h-4 w-16 sm:block" />
        </div>
      ))}
      <span className="sr-only">{label}…</span>
    </div>
  )
}

interface FailureProps {
  error: unknown
  /** What failed, if it was not loading: "Not saved". */
  title?: string
  retry?: () => void
}

/** The state after a failed request: the error and what to do about it. */
export function Failure({ error, title: what, retry }: FailureProps) {
  const failure = asApiError(error)
  const title = failure.unreachable
    ? 'The server is not responding'
    : failure.notFound
      ? 'Not found'
      : failure.unavailable
        ? 'Temporarily unavailable'
        : (what ?? 'This could not be loaded')
  const hint = failure.unreachable
    ? 'Start it with: butler serve'
    : failure.notFound
      ? 'The link may be outdated or incomplete. Search memory to find it.'
      : failure.hint
  return (
    <div role="alert" className="rounded-lg border border-harm/40 bg-harm-wash px-6 py-5">
      <p className="font-medium text-harm">
        <span aria-hidden="true">✕ </span>
        {title}
      </p>
      {!failure.unreachable && <p className="mt-1 break-words text-ink first-letter:uppercase">{failure.message}</p>}
      {hint && <p className="mt-1 break-words text-muted first-letter:uppercase">{hint}</p>}
      {retry && !failure.notFound && (
        <Button size="small" className="mt-3" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
