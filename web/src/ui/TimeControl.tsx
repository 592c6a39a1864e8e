import { useEffect, useId, useRef, useState } from 'react'
import { briefDate, dayFromNumber, dayNumber, dayOf, earliestDay, isDay, sliderStart } from '../lib/dates'
import type { TimeSearch } from '../lib/search'
import { Button } from './Button'

/** Moving the slider reports where it rests, not every day on the way. */
const DELAY_MS = 300

interface Props {
  time: TimeSearch
  /** Dates of what the page shows; the slider begins at the earliest. */
  dates: readonly (string | null | undefined)[]
  onChange: (time: TimeSearch) => void
}

/** The first day of the slider. It goes by the earliest date so far, because another time shows other dates. */
function useStart(dates: Props['dates'], value: string | undefined, today: string): string {
  const [seen, setSeen] = useState(value)
  const earliest = earliestDay([...dates, seen])
  if (earliest !== seen) setSeen(earliest)
  const start = sliderStart(earliest, today)
  return value !== undefined && value < start ? value : start
}

/** The date that is being chosen: the day of the page until it changes, and reported when it rests. */
function useDraft(value: string | undefined, report: (day: string | undefined) => void) {
  const [draft, setDraft] = useState(value)
  const latest = useRef(report)
  const reported = useRef(value)
  useEffect(() => {
    latest.current = report
  })
  useEffect(() => {
    if (value !== reported.current) setDraft(value)
    reported.current = value
  }, [value])
  useEffect(() => {
    if (draft === reported.current) return
    const timer = setTimeout(() => {
      reported.current = draft
      latest.current(draft)
    }, DELAY_MS)
    return () => clearTimeout(timer)
  }, [draft])
  return [draft, setDraft] as const
}

/** Chooses the day whose state a page shows, and whether to show what was believed then. */
export function TimeControl({ time, dates, onChange }: Props) {
  const id = useId()
  const today = dayOf(Date.now())
  const first = useStart(dates, time.valid_at, today)
  const believed = time.as_of !== undefined
  const past = (day: string | undefined) => day !== undefined && day < today
  const choose = (day: string | undefined, asBelieved: boolean) =>
    onChange({ valid_at: day, as_of: asBelieved && past(day) ? day : undefined })
  const [draft, setDraft] = useDraft(time.valid_at, (day) => choose(day, believed))
  const last = dayNumber(today)
  const place = Math.min(last, dayNumber(draft ?? today))
  return (
    <fieldset className="card mb-5 flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
      <legend className="sr-only">Time</legend>
      <label htmlFor={`${id}slider`} className="text-sm text-muted">
        As it was on
      </label>
      <input
        id={`${id}slider`}
        type="range"
        min={dayNumber(first)}
        max={last}
        value={place}
        aria-valuetext={draft ? briefDate(draft) : 'now'}
        className="h-6 min-w-40 flex-1 basis-48 cursor-pointer accent-accent"
        onChange={(event) => {
          const day = dayFromNumber(Number(event.target.value))
          setDraft(day === today ? undefined : day)
        }}
      />
      <input
        type="date"
        aria-label="Date"
        min="0001-01-01"
        max="9999-12-31"
        className="control w-36"
        value={draft ?? ''}
        onChange={(event) => {
          const day = event.target.value
          if (day === '' || isDay(day)) setDraft(day || undefined)
        }}
      />
      <Button size="small" aria-pressed={draft === undefined} onClick={() => setDraft(undefined)}>
        Now
      </Button>
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={believed}
          disabled={!past(draft)}
          onChange={(event) => choose(draft, event.target.checked)}
        />
        as believed then
      </label>
    </fieldset>
  )
}

/** Says that the page shows another time than now. */
export function TimeNotice({ time, children }: { time: TimeSearch; children?: string }) {
  const { valid_at, as_of } = time
  const belief = as_of && `, as believed ${as_of === valid_at ? 'then' : `on ${briefDate(as_of)}`}`
  const future = valid_at && valid_at > dayOf(Date.now())
  return (
    // always present, so that a screen reader announces the change
    <div role="status">
      {valid_at && (
        <p className="mb-5 rounded-lg border border-accent/40 bg-accent-wash px-4 py-2.5">
          <strong className="font-semibold">
            As it {future ? 'will be' : 'was'} on {briefDate(valid_at)}
            {belief}
          </strong>
          {children && <span className="text-muted"> · {children}</span>}
        </p>
      )}
    </div>
  )
}
