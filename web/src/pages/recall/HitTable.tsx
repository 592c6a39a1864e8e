import { cx } from '../../lib/cx'
import { validityText } from '../../lib/dates'
import { capitalized } from '../../lib/labels'
import { fixed } from '../../lib/number'
import { StateBadge } from '../../memory/badges'
import { MemoryLink } from '../../memory/MemoryLink'
import type { FactDates } from '../../memory/types'
import { Empty } from '../../ui/states'

export interface RecallHit extends FactDates {
  id: string
  memory_type: string
  content: string
  score: number
  subject?: string | null
  predicate?: string | null
  similarity?: number | null
  semantic_rank?: number | null
  keyword_rank?: number | null
  rrf_score?: number | null
  relevance?: number | null
  importance?: number | null
  recency?: number | null
  effective_confidence?: number | null
  fading?: boolean
  explain?: { in_semantic: boolean; in_keyword: boolean; weighed?: Weights | null } | null
}

export interface Weights {
  relevance: number
  importance: number
  recency: number
  confidence: number
}

const parts = [
  ['Relevance', 'bg-accent'],
  ['Importance', 'bg-accent/70'],
  ['Recency', 'bg-accent/45'],
  ['Confidence', 'bg-accent/25'],
] as const

const inOrder = (parts: Weights): number[] => [parts.relevance, parts.importance, parts.recency, parts.confidence]

function Rank({ name, value, found }: { name: string; value?: number | null; found: boolean }) {
  return (
    <span>
      {name}{' '}
      <span className={value && found ? 'figure text-ink' : 'figure'}>
        {value && found ? `#${value}` : 'not found'}
      </span>
    </span>
  )
}

interface RowProps {
  hit: RecallHit
  place: number
  expected: boolean
  onExpect?: (() => void) | undefined
}

function Row({ hit, place, expected, onExpect }: RowProps) {
  const validity = validityText(hit)
  const shares = hit.explain?.weighed ? inOrder(hit.explain.weighed) : []
  return (
    <li
      data-row=""
      className="grid grid-cols-[1.75rem_minmax(0,1fr)_3.5rem] gap-x-2 border-b border-line px-4 py-3 last:border-0"
    >
      <span className="figure text-sm text-muted">{place}</span>
      <div className="min-w-0">
        <p className="text-sm text-muted">
          {hit.subject
            ? `${hit.subject} · ${capitalized(hit.predicate ?? '').toLowerCase()}`
            : capitalized(hit.memory_type)}
          {validity && ` · ${validity}`} {hit.fading && <StateBadge state="fading" />}
        </p>
        <MemoryLink
          kind={hit.memory_type}
          id={hit.id}
          className={cx('line-clamp-2 font-serif text-lg break-words hover:underline', hit.fading && 'italic')}
        >
          {hit.content}
        </MemoryLink>
      </div>
      <div className="col-span-3 min-w-0 sm:col-span-1 sm:col-start-2">
        <div aria-hidden="true" className="mt-2 flex h-1.5 overflow-hidden rounded-full bg-sunken">
          {shares.map((share, index) => (
            <div
              key={parts[index]?.[0]}
              className={cx('border-r border-surface', parts[index]?.[1])}
              style={{ width: `${share * 100}%` }}
            />
          ))}
        </div>
        <p className="figure mt-1.5 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-muted">
          {shares.map((share, index) => (
            <span key={parts[index]?.[0]}>
              {parts[index]?.[0].toLowerCase()} <span className="text-ink">{fixed(share, 3)}</span>
            </span>
          ))}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-muted">
          <Rank name="by meaning" value={hit.semantic_rank} found={hit.explain?.in_semantic ?? true} />
          <Rank name="by keywords" value={hit.keyword_rank} found={hit.explain?.in_keyword ?? true} />
          {hit.rrf_score != null && (
            <span>
              fused <span className="figure text-ink">{fixed(hit.rrf_score, 4)}</span>
            </span>
          )}
          {hit.similarity != null && (
            <span>
              similarity <span className="figure text-ink">{fixed(hit.similarity, 3)}</span>
            </span>
          )}
          {onExpect && (
            <label className="inline-flex items-center gap-1.5">
              <input
                type="checkbox"
                className="size-3.5 accent-accent"
                checked={expected}
                aria-label={`Expected: ${hit.content.slice(0, 60)}`}
                onChange={onExpect}
              />
              expected
            </label>
          )}
        </p>
      </div>
      <span className="figure col-start-3 row-start-1 text-right text-lg font-semibold">{fixed(hit.score, 3)}</span>
    </li>
  )
}

interface Props {
  hits: RecallHit[]
  weights?: Weights | null | undefined
  /** The memories that the test set expects for the question. */
  expected?: readonly { id: string }[] | undefined
  onExpect?: (hit: RecallHit) => void
}

/** Each hit with its rank in both searches, its fused score, and the four weighted parts of its final score. */
export function HitTable({ hits, weights, expected = [], onExpect }: Props) {
  if (hits.length === 0)
    return <Empty title="Nothing recalled">No memory matches the question by meaning or by keywords.</Empty>
  return (
    <>
      <p className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {parts.map(([name, fill], index) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className={cx('size-2 rounded-full', fill)} />
            {name} {weights && <span className="figure">× {inOrder(weights)[index]}</span>}
          </span>
        ))}
      </p>
      <ol className="card overflow-hidden">
        {hits.map((hit, index) => (
          <Row
            key={hit.id}
            hit={hit}
            place={index + 1}
            expected={expected.some(({ id }) => id === hit.id)}
            onExpect={onExpect && (() => onExpect(hit))}
          />
        ))}
      </ol>
    </>
  )
}
