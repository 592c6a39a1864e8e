import { cx } from '../lib/cx'
import { clock, date, dateTime } from '../lib/time'
import { actorName, change, type EventRow as Event, eventLabel, eventTone, isHousekeeping } from './events'
import { MemoryLink } from './MemoryLink'

interface Props {
  event: Event
  look: 'feed' | 'full' | 'own'
}

function About({ event, look }: Props) {
  if (look === 'own' || !event.memory_type || !event.memory_id) return null
  if (!event.label) return <p className="text-sm text-muted italic">{event.memory_type} no longer stored</p>
  return (
    <p className={cx('min-w-0', isHousekeeping(event.event_type) && 'text-sm')}>
      <MemoryLink
        kind={event.memory_type}
        id={event.memory_id}
        className={cx('font-serif break-words hover:underline', look === 'full' ? 'line-clamp-2' : 'line-clamp-1')}
      >
        {event.label}
      </MemoryLink>
    </p>
  )
}

/** The butler and the actor; a butler that acted itself is named once. */
function By({ event }: { event: Event }) {
  const actor = event.actor && actorName(event.actor)
  if (!actor && !event.home) return null
  return (
    <p className="col-start-2 text-xs break-words text-muted md:col-start-3 md:row-start-1 md:pt-0.5">
      {event.home && event.home !== actor && <>in {event.home} </>}
      {actor && <span title={event.actor ?? undefined}>by {actor}</span>}
      {event.request_id && <span className="block">request {event.request_id}</span>}
    </p>
  )
}

export function EventRow({ event, look }: Props) {
  const [glyph, label] = eventLabel(event.event_type)
  const quiet = isHousekeeping(event.event_type)
  const detail = change(event)
  const full = look === 'full'
  return (
    <li
      data-row=""
      className={cx(
        'grid gap-x-2 py-2',
        full
          ? 'grid-cols-[1.25rem_minmax(0,1fr)_auto] md:grid-cols-[1.25rem_minmax(0,1fr)_14rem_3rem] md:gap-x-3'
          : 'grid-cols-[1.25rem_minmax(0,1fr)_auto]',
        quiet && 'text-muted',
      )}
    >
      <span aria-hidden="true" className={cx('text-center', eventTone(event.event_type))}>
        {glyph}
      </span>
      <div className="min-w-0">
        <p className="text-sm break-words">
          <span className={quiet ? '' : 'font-medium'}>{label}</span>
          {detail && <span className="text-muted"> · {detail}</span>}
        </p>
        <About event={event} look={look} />
      </div>
      {full && <By event={event} />}
      <time
        dateTime={event.created_at}
        title={dateTime(event.created_at)}
        className={cx(
          'figure text-right text-xs text-muted',
          full && 'col-start-3 row-start-1 md:col-start-4 md:pt-0.5',
        )}
      >
        {look === 'own' ? date(event.created_at) : clock(event.created_at)}
      </time>
    </li>
  )
}
