import { useState } from 'react'
import { groupBy } from '../lib/group'
import { dayName } from '../lib/time'
import { EventRow as Row } from './EventRow'
import { EventRun } from './EventRun'
import { type EventRow, runs } from './events'

interface Props {
  events: EventRow[]
  /** `feed`: one line per event. `full`: adds butler and actor. `own`: omits the memory, which the page shows. */
  look?: 'feed' | 'full' | 'own'
  level?: 'h2' | 'h3'
}

/** How many events are shown at first. A useful rule has many marks, and the latest say the most. */
const FIRST = 6

/** The events of one memory. They spread over many days, so each shows its date. */
function OwnEvents({ events }: { events: EventRow[] }) {
  const [all, setAll] = useState(false)
  const shown = all ? events : events.slice(0, FIRST)
  return (
    <>
      <ul className="divide-y divide-line/60 border-t border-line/60">
        {shown.map((event) => (
          <Row key={event.id} event={event} look="own" />
        ))}
      </ul>
      {shown.length < events.length && (
        <button type="button" className="link mt-2 text-sm" onClick={() => setAll(true)}>
          Show all {events.length} events
        </button>
      )}
    </>
  )
}

/** Events grouped by day, newest first. Consecutive housekeeping events of one type collapse into one line. */
export function EventList({ events, look = 'feed', level = 'h3' }: Props) {
  const Heading = level
  if (look === 'own') return <OwnEvents events={events} />
  return (
    <div className="space-y-4">
      {groupBy(events, (event) => dayName(event.created_at)).map(([day, list]) => (
        <div key={day}>
          <Heading className="label border-b border-line pb-1">{day}</Heading>
          <ul className="divide-y divide-line/60">
            {runs(list).map((run) => {
              const [first] = run
              if (!first) return null
              return run.length > 1 ? (
                <EventRun key={first.id} events={run} look={look} />
              ) : (
                <Row key={first.id} event={first} look={look} />
              )
            })}
          </ul>
        </div>
      ))}
    </div>
  )
}
