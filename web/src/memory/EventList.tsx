import { useState } from 'react'
import { groupBy } from '../lib/group'
import { dayName } from '../lib/time'
import { EventRow as Row } from './EventRow'
import { EventRun } from './EventRun'
import { type EventRow, runs } from './events'

interface Props {
  events: EventRow[]
  /** `feed`: a line each. `full`: also who did it and where. `own`: of the page's own memory, which needs no naming. */
  look?: 'feed' | 'full' | 'own'
  level?: 'h2' | 'h3'
}

/** A rule that works is marked every other day: the latest tell the most. */
const FIRST = 6

/** What happened to one memory: few events on many days, so each has its date. */
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
          All {events.length} events
        </button>
      )}
    </>
  )
}

/** Events by day, newest first; housekeeping of one kind in a row is one line that opens. */
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
