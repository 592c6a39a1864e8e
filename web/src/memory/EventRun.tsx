import { cx } from '../lib/cx'
import { clock } from '../lib/time'
import { EventRow } from './EventRow'
import { type EventRow as Event, eventLabel } from './events'

/** Several housekeeping events as one line that expands. */
export function EventRun({ events, look }: { events: Event[]; look: 'feed' | 'full' | 'own' }) {
  const [first] = events
  if (!first) return null
  const [glyph, label] = eventLabel(first.event_type)
  return (
    <li data-row="">
      <details className="group/run">
        <summary
          className={cx(
            'grid cursor-pointer list-none grid-cols-[1.25rem_minmax(0,1fr)_auto] gap-x-2 py-2',
            'text-muted hover:text-ink',
            look === 'full' && 'md:gap-x-3',
          )}
        >
          <span aria-hidden="true" className="text-center">
            {glyph}
          </span>
          <span className="text-sm">
            {label} <span className="figure">× {events.length}</span>
            <span aria-hidden="true" className="ml-1 inline-block group-open/run:rotate-90">
              ›
            </span>
          </span>
          <time dateTime={first.created_at} className="figure text-xs">
            {clock(first.created_at)}
          </time>
        </summary>
        <ul className="ml-4 divide-y divide-line/60 border-l border-line pl-2">
          {events.map((event) => (
            <EventRow key={event.id} event={event} look={look} />
          ))}
        </ul>
      </details>
    </li>
  )
}
