import { cx } from '../lib/cx'
import { clock } from '../lib/time'
import { change, type EventRow as Event, eventWords, isHarmful, isHousekeeping } from './events'
import { MemoryLink } from './MemoryLink'

interface Props {
  event: Event
  look: 'feed' | 'full' | 'own'
}

function About({ event, look }: Props) {
  if (look === 'own' || !event.memory_type || !event.memory_id) return null
  if (!event.label) return <p className="text-sm text-muted italic">the {event.memory_type} is gone</p>
  return (
    <p className={cx('min-w-0', isHousekeeping(event.event_type) && 'text-sm')}>
      <MemoryLink kind={event.memory_type} id={event.memory_id} className={cx('font-serif break-words hover:underline', look === 'full' ? 'line-clamp-2' : 'line-clamp-1')}>
        {event.label}
      </MemoryLink>
    </p>
  )
}

export function EventRow({ event, look }: Props) {
  const [glyph, words] = eventWords(event.event_type)
  const quiet = isHousekeeping(event.event_type)
  const detail = change(event)
  return (
    <li data-row="" className={cx('grid grid-cols-[1.25rem_minmax(0,1fr)_auto] gap-x-2 py-2', quiet && 'text-muted')}>
      <span aria-hidden="true" className={cx('text-center', isHarmful(event.event_type) ? 'text-harm' : !quiet && 'text-accent')}>
        {glyph}
      </span>
      <div className="min-w-0">
        <p className="text-sm break-words">
          <span className={quiet ? '' : 'font-medium'}>{words}</span>
          {detail && <span className="text-muted"> · {detail}</span>}
        </p>
        <About event={event} look={look} />
        {look === 'full' && (event.actor || event.home) && (
          <p className="text-xs break-words text-muted">
            {event.home && <>in {event.home}</>}
            {event.actor && <> by {event.actor.replaceAll('_', ' ')}</>}
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
