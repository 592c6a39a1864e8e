import { useEffect, useRef, useState } from 'react'
import { cx } from '../lib/cx'
import { Icon } from './Icon'

interface Props {
  label: string
  value: string
  onChange: (value: string) => void
  placeholder?: string
  className?: string
}

/** A search box that reports its text once typing pauses. The key `/` focuses it. */
export function SearchField({ label, value, onChange, placeholder, className }: Props) {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  useEffect(() => {
    if (value !== reported.current) {
      reported.current = value
      setText(value)
    }
  }, [value])
  useEffect(() => {
    if (text === reported.current) return
    const timer = setTimeout(() => {
      reported.current = text
      onChange(text)
    }, 200)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <label className={cx('relative block', className)}>
      <span className="sr-only">{label}</span>
      <Icon name="recall" className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
      <input
        type="search"
        data-search=""
        className="control w-full pl-9"
        value={text}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  )
}
