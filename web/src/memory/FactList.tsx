import { Link } from '@tanstack/react-router'
import { cx } from '../lib/cx'
import { validityText } from '../lib/dates'
import { capitalized } from '../lib/labels'
import { date } from '../lib/time'
import { RowMenu } from '../lists/RowMenu'
import { Confidence } from '../ui/Confidence'
import { Time } from '../ui/Time'
import { PermanenceBadge, StateBadge } from './badges'
import { confidenceReason } from './confidence'
import { RowActions } from './RowActions'
import type { FactRow } from './types'

/** When the fact is true, when it was learned, and when it was last confirmed if that was on a later day. */
function Dates({ fact }: { fact: FactRow }) {
  const validity = validityText(fact)
  const confirmed = fact.last_confirmed_at
  const later = confirmed && date(confirmed) !== date(fact.created_at)
  return (
    <p className="text-sm text-muted">
      {validity && <span className="text-ink">{validity} · </span>}
      learned <Time at={fact.created_at} how="date" />
      {later && (
        <>
          , confirmed <Time at={confirmed} how="date" />
        </>
      )}
    </p>
  )
}

/** Subject and predicate introduce the content. */
function Row({ fact, bare, past }: { fact: FactRow; bare: boolean; past: boolean }) {
  const fading = !past && fact.state === 'fading'
  const gone = !past && fact.state !== 'active' && !fading
  const validity = validityText(fact)
  const label = `${fact.subject} ${fact.predicate}`
  return (
    <li data-row="" className="group relative border-b border-line last:border-0">
      <div className="grid gap-x-4 gap-y-1 px-4 py-3 md:grid-cols-[minmax(0,1fr)_auto] md:items-center">
        <div className="min-w-0">
          {!bare && (
            <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 text-sm text-muted">
              <span className="font-medium break-all text-ink">{fact.subject}</span>
              <span className="break-all">{capitalized(fact.predicate).toLowerCase()}</span>
              {validity && <span>{validity}</span>}
            </p>
          )}
          <Link
            to="/memory/facts/$id"
            params={{ id: fact.id }}
            className={cx(
              'memory-text line-clamp-2 text-lg after:absolute after:inset-0',
              gone && 'text-muted line-through decoration-line-strong',
              fading && 'italic',
            )}
          >
            {fact.content}
          </Link>
          {bare && <Dates fact={fact} />}
        </div>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 md:justify-end">
          {!past && (
            <RowActions kind="fact" id={fact.id} label={label} content={fact.content} dates={fact} live={!gone} />
          )}
          <StateBadge state={fact.state} />
          <PermanenceBadge permanence={fact.permanence} />
          {!past && (
            <Confidence
              value={fact.effective_confidence}
              fading={fading}
              gone={gone}
              {...(bare ? {} : { why: confidenceReason(fact) })}
            />
          )}
          {!past && !gone && (
            <span className="ml-auto md:hidden">
              <RowMenu kind="fact" id={fact.id} label={label} content={fact.content} dates={fact} />
            </span>
          )}
        </div>
      </div>
    </li>
  )
}

/**
 * `bare` omits subject and predicate where a heading shows them, and adds the dates. `past` shows what was true at
 * another time: without actions, and without the confidence, which says how sure we are now.
 */
export function FactList({
  facts,
  label = 'Facts',
  bare = false,
  past = false,
}: {
  facts: FactRow[]
  label?: string
  bare?: boolean
  past?: boolean
}) {
  return (
    <ul aria-label={label} className="card overflow-hidden">
      {facts.map((fact) => (
        <Row key={fact.id} fact={fact} bare={bare} past={past} />
      ))}
    </ul>
  )
}
