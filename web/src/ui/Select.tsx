import { cx } from '../lib/cx'

interface Props {
  label: string
  value: string
  options: readonly (readonly [value: string, text: string])[]
  onChange: (value: string) => void
  className?: string
}

/** A native select: it works best on phones, with keyboards and with screen readers. */
export function Select({ label, value, options, onChange, className }: Props) {
  return (
    <label className={cx('inline-flex items-center', className)}>
      <span className="sr-only">{label}</span>
      <select
        className="control w-full min-w-0 px-2 text-base"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
