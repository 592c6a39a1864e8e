import { cx } from '../lib/cx'
import { clock, dayName } from '../lib/time'
import { change, type EventRow, eventWords, isHousekeeping } from './events'
import { MemoryLink } from './MemoryLink'

function Row({ event, full }: { event: EventRow; full: boolean }) {
  const [glyph, words] = eventWords(event.event_type)
  const quiet = isHousekeeping(event.event_type)
  const detail = change(event)
  return (
    <li data-row="" className={cx('grid grid-cols-[1.25rem_minmax(0,1fr)_auto] gap-x-2 py-2', quiet && 'text-muted')}>
      <span aria-hidden="true" className={cx('text-center', !quiet && 'text-accent')}>
        {glyph}
      </span>
      <div className="min-w-0">
        <p className="text-sm">
          <span className={quiet ? '' : 'font-medium'}>{words}</span>
          {detail && <span className="text-muted"> · {detail}</span>}
        </p>
        {event.memory_type && event.memory_id && (
          <p className={cx('min-w-0', quiet ? 'text-sm' : '')}>
            {event.label ? (
              <MemoryLink kind={event.memory_type} id={event.memory_id} className={cx('font-serif break-words hover:underline', full ? 'line-clamp-2' : 'line-clamp-1')}>
                {event.label}
              </MemoryLink>
            ) : (
              <span className="text-sm text-muted italic">the {event.memory_type} is gone</span>
            )}
          </p>
        )}
        {full && (event.actor || event.home) && (
          <p className="text-xs text-muted">
            {event.home && <>in {event.home}</>}
            {event.actor && <> by {event.actor}</>}
            {event.request_id && <> · request {event.request_id}</>}
          </p>
        )}
      </div>
      <time dateTime={event.created_at} className="figure text-xs text-muted">
        {clock(event.created_at)}
      </time>
    </li>
  )
}

/** Events by day, newest first. `full` also tells who did it and where. */
export function EventList({ events, full = false, level = 'h3' }: { events: EventRow[]; full?: boolean; level?: 'h2' | 'h3' }) {
  const days = new Map<string, EventRow[]>()
  for (const event of events) {
    const day = dayName(event.created_at)
    days.set(day, [...(days.get(day) ?? []), event])
  }
  const Heading = level
  return (
    <div className="space-y-4">
      {[...days].map(([day, list]) => (
        <section key={day} aria-label={day}>
          <Heading className="label border-b border-line pb-1">{day}</Heading>
          <ul className="divide-y divide-line/60">
            {list.map((event) => (
              <Row key={event.id} event={event} full={full} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}
