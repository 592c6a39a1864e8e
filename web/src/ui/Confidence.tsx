import { cx } from '../lib/cx'
import { fixed } from '../lib/number'

/**
 * Effective confidence as a bar and a number. A fading memory has a hatched bar, so that it differs from a fresh one
 * without colour.
 */
export function Confidence({
  value,
  fading = false,
  gone = false,
  bar = true,
  why,
}: {
  value: number
  fading?: boolean
  gone?: boolean
  /** A narrow row shows the number alone. */
  bar?: boolean
  /** Why it is what it is, shown after the number. */
  why?: string
}) {
  return (
    <span className="inline-flex items-center gap-2">
      {bar && (
        <svg viewBox="0 0 48 6" className="h-1.5 w-12 shrink-0" aria-hidden="true" preserveAspectRatio="none">
          <rect width="48" height="6" rx="3" className="fill-line" />
          <rect
            width={Math.max(3, 48 * Math.min(1, value))}
            height="6"
            rx="3"
            className={gone ? 'fill-line-strong' : fading ? 'fill-fading' : 'fill-accent'}
          />
          {fading &&
            [10, 16, 22, 28, 34, 40, 46, 4].map((x) => (
              <rect key={x} x={x} width="2" height="6" className="fill-surface" />
            ))}
        </svg>
      )}
      <span className={cx('figure text-sm', fading ? 'text-fading' : 'text-ink')}>
        {!why && <span className="sr-only">confidence </span>}
        {fixed(value)}
      </span>
      {why && <span className="text-sm text-muted">confidence: {why}</span>}
    </span>
  )
}
