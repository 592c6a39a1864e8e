import { count } from '../lib/number'

export interface Bar {
  name: string
  value: number
  tone?: 'accent' | 'fading' | 'harm' | 'plain'
  note?: string
}

const fills = { accent: 'bg-accent', fading: 'bg-fading', harm: 'bg-harm', plain: 'bg-line-strong' } as const

/** Quantities by name. The list is complete without the bars. */
export function Bars({ bars, format = count }: { bars: Bar[]; format?: (value: number) => string }) {
  const most = Math.max(1e-9, ...bars.map((bar) => bar.value))
  return (
    <dl className="space-y-2.5">
      {bars.map((bar) => (
        <div key={bar.name} className="grid grid-cols-[7rem_minmax(0,1fr)_3.5rem] items-center gap-3">
          <dt className="truncate text-sm">{bar.name}</dt>
          <dd className="order-last text-right">
            <span className="figure text-sm">{format(bar.value)}</span>
            {bar.note && <span className="sr-only"> {bar.note}</span>}
          </dd>
          <dd aria-hidden="true" className="h-2 rounded-full bg-sunken">
            <div
              className={`h-2 rounded-full ${fills[bar.tone ?? 'accent']}`}
              style={{ width: `${Math.max(bar.value > 0 ? 2 : 0, (bar.value / most) * 100)}%` }}
            />
          </dd>
        </div>
      ))}
    </dl>
  )
}
