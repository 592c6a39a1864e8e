import { ago, date, dateTime } from '../lib/time'

export function Time({ at, how = 'ago' }: { at: string; how?: 'ago' | 'date' | 'full' }) {
  const text = how === 'ago' ? ago(at) : how === 'date' ? date(at) : dateTime(at)
  return (
    <time dateTime={at} title={dateTime(at)} className="figure whitespace-nowrap">
      {text}
    </time>
  )
}
