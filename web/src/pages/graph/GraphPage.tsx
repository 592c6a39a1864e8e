import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo } from 'react'
import { useOverviewButler } from '../../api/overview-butler'
import type { EntityType } from '../../api/schema'
import { cx } from '../../lib/cx'
import { capitalized } from '../../lib/labels'
import { count, counted } from '../../lib/number'
import { Page } from '../../ui/Page'
import { Empty, Failure, Loading } from '../../ui/states'
import { TimeControl, TimeNotice } from '../../ui/TimeControl'
import { Unavailable } from '../../ui/Unavailable'
import { entityTypes, type graph as graphSearch } from '../search'
import { Filters } from './Filters'
import { type Graph, type View, viewOf } from './model'
import { NodeList } from './NodeList'
import { useGraph } from './useGraph'

const GraphCanvas = lazy(() => import('./GraphCanvas'))

const dots: Record<EntityType, string> = {
  person: 'bg-accent',
  organization: 'bg-type-organization',
  place: 'bg-type-place',
  other: 'bg-line-strong',
}

function Legend() {
  return (
    <ul aria-label="Colours" className="flex flex-wrap gap-x-4 gap-y-1">
      {entityTypes.map((type) => (
        <li key={type} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={cx('size-2.5 rounded-full', dots[type])} />
          {capitalized(type)}
        </li>
      ))}
    </ul>
  )
}

const empty = (
  <Empty title="No relations yet">
    A relation is a fact that connects two entities. An agent stores one with{' '}
    <code className="font-mono text-sm">memory_store_fact</code> and <code className="font-mono text-sm">object</code>:
    for example the subject Ada, the predicate works_at and the object Analytical Engines.
  </Empty>
)

const emptyThen = <Empty title="No relations for that day">No relation is known to have been true then.</Empty>

interface Props {
  graph: Graph
  /** The number of all entities, if the graph has only some of them. */
  total?: number
}

function Figures({ graph, view, total }: Props & { view: View }) {
  const all = view.edges.length === graph.edges.size
  const shown = `${counted(view.nodes.length, 'entity', 'entities')} and ${counted(view.edges.length, 'relation')}`
  return (
    <p role="status">
      {shown}
      {all ? '. ' : ` of ${count(graph.edges.size)} match the filters. `}
      {total !== undefined && `These are the best connected of ${count(total)} entities.`}
    </p>
  )
}

function Explorer({ graph, total }: Props) {
  const search = useSearch({ from: '/graph' })
  const navigate = useNavigate({ from: '/graph' })
  const { predicate, until, entity: selected, valid_at, as_of } = search
  const view = useMemo(() => viewOf(graph, { predicate, until, selected }), [graph, predicate, until, selected])
  const select = useCallback(
    (entity: string | undefined) =>
      void navigate({ search: (previous) => ({ ...previous, entity }), replace: true, resetScroll: false }),
    [navigate],
  )
  return (
    <>
      <div className="grid gap-4 lg:h-[calc(100dvh-23rem)] lg:min-h-96 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="card h-[60vh] lg:h-full">
          <Suspense fallback={<Loading rows={3} label="Loading the graph" />}>
            <GraphCanvas
              graph={graph}
              view={view}
              selected={selected}
              onSelect={select}
              onOpen={(id) => void navigate({ to: '/entities/$id', params: { id }, search: { valid_at, as_of } })}
            />
          </Suspense>
        </div>
        <div className="flex max-h-[70vh] lg:max-h-full min-h-0 flex-col">
          <NodeList view={view} selected={selected} time={{ valid_at, as_of }} onSelect={select} />
        </div>
      </div>
      <div className="mt-3 flex flex-wrap items-center justify-between gap-x-6 gap-y-2 text-sm text-muted">
        <Figures graph={graph} view={view} total={total} />
        <Legend />
      </div>
    </>
  )
}

export default function GraphPage() {
  const search = useSearch({ from: '/graph' })
  const navigate = useNavigate({ from: '/graph' })
  const { valid_at, as_of } = search
  const change = useCallback(
    (next: ReturnType<typeof graphSearch>) =>
      void navigate({ search: (previous) => ({ ...previous, ...next }), replace: true, resetScroll: false }),
    [navigate],
  )
  // without a butler, the server shows the first one with relations, and queries all of them to find it
  const { ready, butler: chosen } = useOverviewButler()
  const butler = search.butler ?? chosen
  const { whole, found, graph, partial, expandError } = useGraph({ ...search, butler }, ready)
  const dates = useMemo(() => (found?.edges ?? []).map((edge) => edge.created_at), [found])
  return (
    <Page
      title="Graph"
      lead="Entities and the relations between them. Select an entity to expand it, double-click to open its profile."
    >
      <Filters search={search} home={found?.home} predicates={found?.predicates ?? []} onChange={change} />
      <TimeControl time={{ valid_at, as_of }} dates={dates} onChange={change} />
      <TimeNotice time={{ valid_at, as_of }}>Relations of that day.</TimeNotice>
      <Unavailable butlers={whole.data?.meta.unavailable} />
      {expandError && (
        <div className="mb-4">
          <Failure error={expandError} title="The entity’s relations could not be loaded" />
        </div>
      )}
      {whole.isError && !found ? (
        <Failure error={whole.error} retry={() => void whole.refetch()} />
      ) : !found ? (
        <Loading rows={6} label="Loading the graph" />
      ) : graph.nodes.size === 0 ? (
        valid_at ? (
          emptyThen
        ) : (
          empty
        )
      ) : (
        <Explorer graph={graph} total={partial ? found.entities_total : undefined} />
      )}
    </Page>
  )
}
