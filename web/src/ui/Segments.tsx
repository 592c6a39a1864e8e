import { cx } from '../lib/cx'

interface Props<T extends string> {
  label: string
  value: T
  options: readonly (readonly [value: T, text: string, count?: number])[]
  onChange: (value: T) => void
}

/** A few mutually exclusive options side by side. */
export function Segments<T extends string>({ label, value, options, onChange }: Props<T>) {
  return (
    <fieldset
      aria-label={label}
      className="inline-flex max-w-full min-w-0 flex-wrap rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map(([name, text, number]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === value}
          onClick={() => onChange(name)}
          className={cx(
            'inline-flex h-9 items-center sm:h-7 gap-1.5 rounded-sm px-2.5 text-sm whitespace-nowrap',
            name === value
              ? 'bg-surface font-medium text-ink shadow-sm ring-1 ring-line-strong/40'
              : 'text-muted hover:text-ink',
          )}
        >
          {text}
          {number !== undefined && <span className="figure text-xs text-muted">{number.toLocaleString('en')}</span>}
        </button>
      ))}
    </fieldset>
  )
}
