import { useState } from 'react'
import { useGet } from '../../api/hooks'
import type { EntityDetailAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted, percent } from '../../lib/number'
import { SearchField } from '../../ui/SearchField'
import { Failure, Loading } from '../../ui/states'
import type { Named } from './MergeDialog'

interface Candidate extends Named {
  entity_type: string
  facts: number
  /** Likeness of the names, if it is known. */
  similarity?: number
}

function List({
  label,
  candidates,
  onChoose,
}: {
  label: string
  candidates: Candidate[]
  onChoose: (candidate: Named) => void
}) {
  return (
    <section aria-label={label} className="mt-4">
      <h3 className="label">{label}</h3>
      <ul className="mt-1 divide-y divide-line">
        {candidates.map((candidate) => (
          <li key={candidate.id}>
            <button
              type="button"
              onClick={() => onChoose(candidate)}
              className="flex w-full items-baseline justify-between gap-3 px-2 py-2 text-left hover:bg-sunken"
            >
              <span className="min-w-0 truncate font-medium">{candidate.canonical_name}</span>
              <span className="figure text-sm whitespace-nowrap text-muted">
                {candidate.similarity !== undefined && `${percent(candidate.similarity)} alike · `}
                {capitalized(candidate.entity_type)} · {counted(candidate.facts, 'fact')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface Props {
  entity: Pick<EntityDetailAt, 'id' | 'home' | 'duplicates'>
  onChoose: (candidate: Named) => void
}

/** The entities to merge with: the likely duplicates first, then a search. */
export function MergeCandidates({ entity, onChoose }: Props) {
  const [query, setQuery] = useState('')
  const found = useGet(
    '/api/memory/entities',
    { query: { q: query || undefined, butler: entity.home, sort: 'facts', limit: 8 } },
    { keepPrevious: true },
  )
  const likely = query ? [] : entity.duplicates
  const known = new Set([entity.id, ...likely.map((candidate) => candidate.id)])
  const others = (found.data?.data ?? []).filter((candidate) => !known.has(candidate.id))
  return (
    <>
      <SearchField
        label="Search for the entity to keep"
        placeholder="Name of the entity to keep"
        value={query}
        onChange={setQuery}
      />
      {likely.length > 0 && <List label="Likely duplicates" candidates={likely} onChoose={onChoose} />}
      {found.isPending ? (
        <Loading rows={3} />
      ) : found.isError ? (
        <div className="mt-4">
          <Failure error={found.error} />
        </div>
      ) : others.length > 0 ? (
        <List label={query ? 'Matching entities' : 'Other entities'} candidates={others} onChoose={onChoose} />
      ) : (
        likely.length === 0 && <p className="py-4 text-center text-muted">No matching entities.</p>
      )}
    </>
  )
}
