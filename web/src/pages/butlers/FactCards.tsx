import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { cx } from '../../lib/cx'
import { validityText } from '../../lib/dates'
import { groupBy } from '../../lib/group'
import { capitalized } from '../../lib/labels'
import { PermanenceBadge, StateBadge } from '../../memory/badges'
import { confidenceReason } from '../../memory/confidence'
import type { FactRow } from '../../memory/types'
import { Confidence } from '../../ui/Confidence'
import { Results } from '../../ui/Results'
import { Empty } from '../../ui/states'

const SIZE = 40

function Card({ subject, facts }: { subject: string; facts: FactRow[] }) {
  return (
    <article className="card p-4">
      <h3 className="mb-2 font-semibold break-words">{subject}</h3>
      <ul className="space-y-3">
        {facts.map((fact) => (
          <li
            key={fact.id}
            data-row=""
            className={cx('relative', fact.state === 'fading' && 'border-l-2 border-dashed border-fading pl-3')}
          >
            <p className="text-sm text-muted">
              {[capitalized(fact.predicate), validityText(fact)].filter(Boolean).join(' · ')}
            </p>
            <Link
              to="/memory/facts/$id"
              params={{ id: fact.id }}
              className={cx(
                'memory-text line-clamp-3 text-lg after:absolute after:inset-0',
                fact.state === 'fading' && 'italic',
              )}
            >
              {fact.content}
            </Link>
            <div className="mt-1 flex flex-wrap items-center gap-2">
              <Confidence
                value={fact.effective_confidence}
                fading={fact.state === 'fading'}
                why={confidenceReason(fact)}
              />
              <PermanenceBadge permanence={fact.permanence} />
              <StateBadge state={fact.state} />
            </div>
          </li>
        ))}
      </ul>
    </article>
  )
}

/** Facts as cards, one per subject. */
export function FactCards({
  name,
  q,
  offset,
  onMove,
}: {
  name: string
  q?: string
  offset?: number
  onMove: (offset: number) => void
}) {
  const facts = useGet(
    '/api/butlers/{name}/memory/facts',
    { path: { name }, query: { q, sort: 'subject', limit: SIZE, offset } },
    { keepPrevious: true },
  )
  return (
    <Results
      query={facts}
      onMove={onMove}
      empty={
        <Empty title={q ? 'No matching facts' : 'No facts yet'}>
          {q ? 'Try other search terms.' : 'Agents store facts, and consolidation learns them from episodes.'}
        </Empty>
      }
    >
      {(rows) => (
        <div className="gap-4 space-y-4 sm:columns-2 [&>*]:break-inside-avoid">
          {groupBy(rows, (fact) => fact.subject).map(([subject, list]) => (
            <Card key={subject} subject={subject} facts={list} />
          ))}
        </div>
      )}
    </Results>
  )
}
