import { type ReactNode, useId } from 'react'
import { cx } from '../lib/cx'

interface Props {
  title: string
  aside?: ReactNode
  children: ReactNode
  /** A smaller heading, for details rather than knowledge. */
  quiet?: boolean
  className?: string
}

export function Section({ title, aside, children, quiet = false, className }: Props) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={cx('min-w-0', className)}>
      <div className="mb-2 flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 id={id} className={quiet ? 'text-sm font-medium text-muted' : 'text-lg font-semibold'}>
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
