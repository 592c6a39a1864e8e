import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Answer } from '../../api/client'
import { getOptions, useGet } from '../../api/hooks'
import type { graph } from '../search'
import { combine } from './model'

/** The most entities that the server sends and that the picture draws fluently. */
export const MAX_ENTITIES = 2000
const MAX_NEIGHBOURS = 500
/** Expanded entities whose relations stay loaded; the oldest are dropped first. */
const MAX_EXPANDED = 30

type Neighbours = UseQueryResult<Answer<'/api/memory/entities/{id}/neighbors', 'get'>>

/** Outside the hook, so that its result changes only with the answers. */
const answers = (results: Neighbours[]) => ({
  parts: results.flatMap((result) => (result.data ? [result.data.data] : [])),
  error: results.find((result) => result.isError)?.error,
})

/** The entities that were selected so far, latest last. A butler's entities are not in another one's graph. */
function useExpanded(entity: string | undefined, butler: string | undefined): string[] {
  const [state, setState] = useState({ butler, ids: entity ? [entity] : [] })
  const ids = state.butler === butler ? state.ids : []
  const next = entity && !ids.includes(entity) ? [...ids, entity].slice(-MAX_EXPANDED) : ids
  if (next !== state.ids) setState({ butler, ids: next })
  return next
}

/** The graph of a butler together with the relations of the expanded entities. */
export function useGraph(search: ReturnType<typeof graph>, ready: boolean) {
  const { butler, predicate, entity, valid_at, as_of } = search
  const query = { butler, limit: MAX_ENTITIES, valid_at, as_of }
  // while another time loads, the graph stays, so that its layout does too
  const whole = useGet('/api/memory/graph', { query }, { keepPrevious: true, enabled: ready })
  const previous = whole.data?.data
  const otherButler = whole.isPlaceholderData && butler !== undefined && previous?.home !== butler
  const found = otherButler ? undefined : previous
  // the server sends the best connected entities; with a predicate, those that are best connected by it
  const partial = found !== undefined && found.entities_total > found.entities.length
  const filtered = useGet(
    '/api/memory/graph',
    { query: { ...query, predicates: predicate } },
    { enabled: partial && predicate !== undefined, keepPrevious: true },
  )
  const expanded = useExpanded(entity, butler)
  const { parts, error } = useQueries({
    queries: expanded.map((id) =>
      getOptions('/api/memory/entities/{id}/neighbors', {
        path: { id },
        query: { butler, depth: 1, direction: 'both', limit: MAX_NEIGHBOURS, valid_at, as_of },
      }),
    ),
    combine: answers,
  })
  const chosen = partial && predicate ? filtered.data?.data : undefined
  const joined = useMemo(
    () => combine([...(found ? [chosen ?? found] : []), ...parts], expanded),
    [found, chosen, parts, expanded],
  )
  return { whole, found, graph: joined, partial, expandError: error }
}
