import type { ReactNode } from 'react'
import { cx } from '../../lib/cx'
import { count } from '../../lib/number'

interface Props {
  name: string
  value: number
  parts: { name: string; value: number }[]
  fading?: boolean
  children?: ReactNode
}

/** A total and its breakdown. */
export function Figure({ name, value, parts, fading = false, children }: Props) {
  return (
    <div
      className={cx('card flex min-w-0 flex-col p-3 sm:p-4', fading && value > 0 && 'border-dashed border-fading/60')}
    >
      <h2 className="label">{name}</h2>
      <p className={cx('figure mt-1 text-2xl font-semibold tracking-tight', fading && value > 0 && 'text-fading')}>
        {fading && value > 0 && (
          <span aria-hidden="true" className="mr-1 font-normal">
            ◌
          </span>
        )}
        {count(value)}
      </p>
      <dl className="mt-3 space-y-1 text-sm text-muted">
        {parts.map((part) => (
          <div key={part.name} className="flex items-baseline justify-between gap-2">
            <dt className="min-w-0 leading-5">{part.name}</dt>
            <dd className="figure text-ink">{count(part.value)}</dd>
          </div>
        ))}
      </dl>
      {children}
    </div>
  )
}
