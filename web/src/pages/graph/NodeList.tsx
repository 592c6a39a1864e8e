import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { cx } from '../../lib/cx'
import { capitalized } from '../../lib/labels'
import { count, counted } from '../../lib/number'
import type { TimeSearch } from '../../lib/search'
import { SearchField } from '../../ui/SearchField'
import { Time } from '../../ui/Time'
import type { GraphNode, Relation, View } from './model'

/** Enough to browse, few enough to stay fast; the search finds the rest. */
const PAGE = 50
const MAX_RELATIONS = 50

interface Props {
  view: View
  selected?: string
  /** The time that the graph shows; the profile opens at the same. */
  time: TimeSearch
  onSelect: (id: string | undefined) => void
}

function Relations({
  node,
  relations,
  time,
  onSelect,
}: {
  node: GraphNode
  relations: Relation[]
  time: TimeSearch
  onSelect: Props['onSelect']
}) {
  const shown = relations.slice(0, MAX_RELATIONS)
  return (
    <div className="px-3 pb-3">
      {relations.length === 0 && <p className="text-sm text-muted">No relations match the filters.</p>}
      {shown.length > 0 && (
        <ul aria-label={`Relations of ${node.name}`} className="space-y-0.5">
          {shown.map(({ edge, other, outgoing }) => (
            <li key={edge.id}>
              <button
                type="button"
                onClick={() => onSelect(other.id)}
                className="flex w-full items-baseline gap-2 rounded-md px-2 py-1 text-left text-sm hover:bg-sunken"
              >
                <span className="min-w-0 flex-1 break-words">
                  <span className="text-muted">
                    <span aria-hidden="true">{outgoing ? '→' : '←'} </span>
                    {capitalized(edge.predicate).toLowerCase()}
                    <span className="sr-only">{outgoing ? ' to' : ' from'}</span>
                  </span>{' '}
                  {other.name}
                </span>
                <span className="text-xs text-muted">
                  <Time at={edge.createdAt} how="date" />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-2 px-2 text-sm text-muted">
        {relations.length > shown.length && `${counted(relations.length - shown.length, 'more relation')}. `}
        <Link to="/entities/$id" params={{ id: node.id }} search={time} className="link">
          Open the profile
        </Link>
      </p>
    </div>
  )
}

/** The graph as a list for the keyboard and for screen readers: each entity opens to its relations. */
export function NodeList({ view, selected, time, onSelect }: Props) {
  const [query, setQuery] = useState('')
  const [limit, setLimit] = useState(PAGE)
  const list = useRef<HTMLUListElement>(null)
  // the picture selects too: bring the row into sight without moving the page
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(`[data-entity="${selected}"]`)
    if (row && list.current) list.current.scrollTop = row.offsetTop
  }, [selected])
  const words = query.trim().toLowerCase()
  const matching = words ? view.nodes.filter((node) => node.name.toLowerCase().includes(words)) : view.nodes
  const first = matching.slice(0, limit)
  const missing = selected && !first.some((node) => node.id === selected)
  const rows = missing ? [...view.nodes.filter((node) => node.id === selected), ...first] : first
  return (
    <div className="flex min-h-0 flex-col">
      <SearchField label="Find an entity" placeholder="Find an entity" value={query} onChange={setQuery} />
      <ul ref={list} aria-label="Entities" className="card relative mt-2 min-h-0 flex-1 overflow-y-auto">
        {rows.map((node) => {
          const open = node.id === selected
          const relations = view.relations.get(node.id) ?? []
          return (
            <li key={node.id} data-row="" data-entity={node.id} className="border-b border-line last:border-0">
              <button
                type="button"
                aria-expanded={open}
                onClick={() => onSelect(open ? undefined : node.id)}
                className={cx(
                  'flex w-full items-baseline justify-between gap-3 px-3 py-2 text-left hover:bg-sunken',
                  open && 'font-medium',
                )}
              >
                <span className="min-w-0 break-words">{node.name}</span>
                <span className="figure text-xs whitespace-nowrap text-muted">
                  {capitalized(node.type)} · {counted(relations.length, 'relation')}
                </span>
              </button>
              {open && <Relations node={node} relations={relations} time={time} onSelect={onSelect} />}
            </li>
          )
        })}
      </ul>
      <p className="mt-2 text-sm text-muted">
        {matching.length === 0 ? (
          <>
            No such entity in the graph.{' '}
            <Link to="/entities" search={{ q: query }} className="link">
              Search all entities
            </Link>
          </>
        ) : (
          matching.length > limit && (
            <button type="button" className="link" onClick={() => setLimit(limit + PAGE)}>
              Show {Math.min(PAGE, matching.length - limit)} more of {count(matching.length)}
            </button>
          )
        )}
      </p>
    </div>
  )
}
