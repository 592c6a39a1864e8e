import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import type { Edge, EntityDetailAt } from '../../api/schema'
import { validityText } from '../../lib/dates'
import { capitalized } from '../../lib/labels'
import type { TimeSearch } from '../../lib/search'
import { Confidence } from '../../ui/Confidence'
import { Failure, Loading } from '../../ui/states'
import { Time } from '../../ui/Time'

/** More relations are easier to explore in the graph. */
const LIMIT = 100

interface RowProps {
  edge: Edge
  from: string
  time: TimeSearch
  name: (id: string) => string
}

function Row({ edge, from, time, name }: RowProps) {
  const validity = validityText(edge)
  const outgoing = edge.source_entity_id === from
  const other = outgoing ? edge.target_entity_id : edge.source_entity_id
  return (
    <li
      data-row=""
      className="grid gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-0 md:grid-cols-[minmax(0,1fr)_auto]"
    >
      <div className="min-w-0">
        <p className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <span className="text-sm break-all text-muted">
            <span aria-hidden="true">{outgoing ? '→' : '←'} </span>
            {capitalized(edge.predicate)}
            <span className="sr-only">{outgoing ? ' to' : ' from'}</span>
          </span>
          <Link
            to="/entities/$id"
            params={{ id: other }}
            search={time}
            className="min-w-0 py-0.5 font-medium break-words hover:underline"
          >
            {name(other)}
          </Link>
        </p>
        <Link
          to="/memory/facts/$id"
          params={{ id: edge.fact_id }}
          className="memory-text line-clamp-2 min-h-6 text-muted hover:underline"
        >
          {edge.content}
        </Link>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted md:justify-end">
        {validity && <span className="text-ink">{validity}</span>}
        <span>
          learned <Time at={edge.created_at} how="date" />
        </span>
        {!time.valid_at && <Confidence value={edge.effective_confidence} />}
      </div>
    </li>
  )
}

interface Props {
  entity: Pick<EntityDetailAt, 'id' | 'home'>
  time: TimeSearch
}

/** The facts that connect this entity with others. */
export function Relations({ entity, time }: Props) {
  const query = useGet(
    '/api/memory/entities/{id}/neighbors',
    {
      path: { id: entity.id },
      query: { butler: entity.home, depth: 1, direction: 'both', limit: LIMIT, ...time },
    },
    { keepPrevious: true },
  )
  if (query.isPending) return <Loading rows={2} label="Loading relations" />
  if (query.isError) return <Failure error={query.error} retry={() => void query.refetch()} />
  const { edges, entities } = query.data.data
  const names = new Map(entities.map((other) => [other.entity_id, other.canonical_name]))
  if (edges.length === 0 && time.valid_at) return <p className="text-muted">No relations for that day.</p>
  if (edges.length === 0)
    return (
      <p className="text-muted">
        No relations yet. A fact stored with <code className="font-mono text-sm">object</code> connects two entities.
      </p>
    )
  return (
    <>
      <ul aria-label="Relations" className="card overflow-hidden">
        {edges.map((edge) => (
          <Row
            key={`${edge.fact_id} ${edge.source_entity_id}`}
            edge={edge}
            from={entity.id}
            time={time}
            name={(id) => names.get(id) ?? 'another entity'}
          />
        ))}
      </ul>
      {edges.length >= LIMIT && <p className="mt-2 text-sm text-muted">The graph shows all its relations.</p>}
    </>
  )
}
