import type { ReactNode } from 'react'
import { cx } from '../lib/cx'

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd
      className={cx(
        'inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line bg-sunken px-1',
        'font-sans text-xs text-muted',
      )}
    >
      {children}
    </kbd>
  )
}
