// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openPage } from '../open-page'
import type { LayoutAnswer, LayoutRequest } from './layout'

/** Leaves every node where it is. */
class IdleWorker {
  onmessage: ((event: { data: LayoutAnswer }) => void) | undefined
  postMessage({ places }: LayoutRequest) {
    queueMicrotask(() => this.onmessage?.({ data: { places, last: true } }))
  }
  terminate() {}
}

beforeEach(() => vi.stubGlobal('Worker', IdleWorker))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const entity = (id: string, name: string) => ({ entity_id: id, canonical_name: name, entity_type: 'person', facts: 1 })
const edge = (id: string, source: string, target: string, predicate: string, day: string) => ({
  fact_id: id,
  source_entity_id: source,
  target_entity_id: target,
  predicate,
  content: '',
  effective_confidence: 0.9,
  created_at: `${day}T12:00:00Z`,
})
const graph = {
  home: 'general',
  entities: [entity('a', 'Ada'), entity('b', 'Bob'), entity('c', 'Cy')],
  edges: [edge('1', 'a', 'b', 'knows', '2026-03-01'), edge('2', 'a', 'c', 'works_with', '2026-05-01')],
  entities_total: 3,
  predicates: [
    { predicate: 'knows', edges: 1 },
    { predicate: 'works_with', edges: 1 },
  ],
}
const around = {
  home: 'general',
  entities: [entity('b', 'Bob'), entity('a', 'Ada'), entity('d', 'Dee')],
  edges: [graph.edges[0], edge('3', 'b', 'd', 'knows', '2026-06-01')],
}

const list = () => screen.findByRole('list', { name: 'Entities' })
const names = async () =>
  within(await list())
    .getAllByRole('button', { expanded: false })
    .map((button) => button.firstChild?.textContent)

test('the list has the entities, and one that is selected expands to its neighbours', async () => {
  const { calls, router } = openPage('/graph', {
    'GET /api/memory/graph': graph,
    'GET /api/memory/entities/b/neighbors': around,
  })
  expect(await names()).toEqual(['Ada', 'Bob', 'Cy'])
  expect(screen.getByText('3 entities and 2 relations.')).toBeTruthy()
  fireEvent.click(within(await list()).getByRole('button', { name: /^Bob/ }))
  const relations = await screen.findByRole('list', { name: 'Relations of Bob' })
  expect(await within(relations).findByRole('button', { name: /knows to Dee/ })).toBeTruthy()
  expect(within(relations).getByRole('button', { name: /knows from Ada/ })).toBeTruthy()
  expect(router.state.location.search).toMatchObject({ entity: 'b' })
  expect(calls.find(({ path }) => path.endsWith('/b/neighbors'))?.query.get('depth')).toBe('1')
  expect(screen.getByRole('link', { name: 'Open the profile' }).getAttribute('href')).toBe('/entities/b')
})

test('a predicate and a date filter the graph', async () => {
  openPage('/graph', { 'GET /api/memory/graph': graph })
  expect(await names()).toEqual(['Ada', 'Bob', 'Cy'])
  fireEvent.change(screen.getByRole('combobox', { name: 'Predicate' }), { target: { value: 'works_with' } })
  expect(await screen.findByText(/2 entities and 1 relation of 2 match the filters/)).toBeTruthy()
  expect(await names()).toEqual(['Ada', 'Cy'])
  fireEvent.change(screen.getByLabelText('Learned until'), { target: { value: '2026-04-01' } })
  expect(await screen.findByText(/0 entities and 0 relations of 2/)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }))
  expect(await names()).toEqual(['Ada', 'Bob', 'Cy'])
})

test('a partial graph is filtered by the server', async () => {
  const { calls } = openPage('/graph?predicate=knows', {
    'GET /api/memory/graph': { ...graph, entities_total: 5000 },
  })
  expect(await screen.findByText(/best connected of 5,000 entities/)).toBeTruthy()
  await vi.waitFor(() => expect(calls.some(({ query }) => query.get('predicates') === 'knows')).toBe(true))
})

test('an empty graph says how relations come about', async () => {
  openPage('/graph', { 'GET /api/memory/graph': { ...graph, edges: [], predicates: [] } })
  expect(await screen.findByText('No relations yet')).toBeTruthy()
  expect(screen.getByText('memory_store_fact')).toBeTruthy()
})

test('an unknown entity in the address is reported, and the graph is shown', async () => {
  openPage('/graph?entity=zz', { 'GET /api/memory/graph': graph })
  expect(await screen.findByText(/nothing at/i)).toBeTruthy()
  expect(await names()).toEqual(['Ada', 'Bob', 'Cy'])
})

test('the graph is shown as it was on a day', async () => {
  const { calls } = openPage('/graph?predicate=knows&valid_at=2020-01-01', {
    'GET /api/memory/graph': ({ query }: { query: URLSearchParams }) =>
      query.has('valid_at') ? { ...graph, edges: [], predicates: [] } : graph,
  })
  expect(await screen.findByText('No relations for that day')).toBeTruthy()
  expect(screen.getByText('As it was on 1 Jan 2020')).toBeTruthy()
  const predicates = screen.getByRole('combobox', { name: 'Predicate' }) as HTMLSelectElement
  expect(predicates.value).toBe('knows')
  fireEvent.click(screen.getByRole('button', { name: 'Now' }))
  expect(await names()).toEqual(['Ada', 'Bob'])
  expect(screen.queryByText(/As it was on 1/)).toBeNull()
  expect(calls.some(({ query }) => query.get('valid_at') === '2020-01-01')).toBe(true)
})
