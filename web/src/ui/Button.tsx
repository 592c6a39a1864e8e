import type { ButtonHTMLAttributes, Ref } from 'react'
import { cx } from '../lib/cx'

const variants = {
  primary: 'bg-accent text-accent-ink hover:opacity-90',
  secondary: 'border border-line-strong/60 bg-surface text-ink hover:border-line-strong hover:bg-sunken',
  ghost: 'text-muted hover:bg-sunken hover:text-ink',
  danger: 'border border-harm/50 bg-surface text-harm hover:bg-harm-wash',
} as const

type Variant = keyof typeof variants
type Size = 'small' | 'medium'

/** The look of a button, also for a link among buttons. */
export function buttonClass(variant: Variant = 'secondary', size: Size = 'medium'): string {
  return cx(
    'inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap',
    'transition-colors disabled:opacity-60',
    size === 'small' ? 'h-9 px-3 text-sm sm:h-7 sm:px-2' : 'h-10 px-3 text-base sm:h-9',
    variants[variant],
  )
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: Variant
  size?: Size
  /** The action is in progress: the button is disabled and announced as busy. */
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({
  variant = 'secondary',
  size = 'medium',
  busy = false,
  className,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy}
      disabled={disabled || busy}
      className={cx(buttonClass(variant, size), className)}
      {...rest}
    />
  )
}
