import type { ReactNode } from 'react'
import { cx } from '../lib/cx'

const tones = {
  plain: 'border-line text-muted',
  accent: 'border-accent/40 bg-accent-wash text-accent',
  fading: 'border-fading/40 bg-fading-wash text-fading border-dashed',
  harm: 'border-harm/40 bg-harm-wash text-harm',
} as const

export type Tone = keyof typeof tones

export function Badge({ tone = 'plain', children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={cx(
        'inline-flex h-5 items-center gap-1 rounded-sm border px-1.5 text-xs whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  )
}
