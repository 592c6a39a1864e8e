import { expect, test } from 'vitest'
import { spiral } from './layout'
import { combine, viewOf } from './model'
import { radiusAt, sceneOf } from './scene'

const count = 60
const created_at = '2026-03-01T12:00:00Z'
const graph = combine([
  {
    entities: Array.from({ length: count }, (_, n) => ({
      entity_id: `${n}`,
      canonical_name: `Entity ${n}`,
      entity_type: 'other',
    })),
    // a star around 0, and 1 knows itself
    edges: Array.from({ length: count }, (_, n) => ({
      fact_id: `${n}`,
      source_entity_id: n === 0 ? '1' : '0',
      target_entity_id: n === 0 ? '1' : `${n}`,
      predicate: 'works_with',
      created_at,
    })),
  },
])
const places = new Map([...graph.nodes.keys()].map((id, index) => [id, spiral(index, 10)]))

test('the focus is the selected node with its neighbours and relations', () => {
  const view = viewOf(graph, { selected: '5' })
  expect(sceneOf(view, places).focus).toBeNull()
  const { nodes, edges, focus } = sceneOf(view, places, '5')
  expect(nodes).toHaveLength(count)
  expect(edges, 'a relation with itself is listed but not drawn').toHaveLength(count - 1)
  expect([...(focus?.nodes ?? [])].map(({ id }) => id).toSorted()).toEqual(['0', '5'])
  expect(focus?.edges.map(({ label }) => label)).toEqual(['works with'])
})

test('a well connected node is larger, and nodes shrink less than distances', () => {
  const { nodes, largest } = sceneOf(viewOf(graph, {}), places)
  const [hub, leaf] = nodes
  if (!hub || !leaf) throw new Error('the scene is empty')
  expect(hub.radius).toBe(largest)
  expect(hub.radius).toBeGreaterThan(2 * leaf.radius)
  expect(radiusAt(hub, 0.04)).toBe(hub.radius / 2)
  expect(radiusAt(hub, 9)).toBe(hub.radius)
})

test('the spiral puts no two nodes in the same place', () => {
  const spots = Array.from({ length: 200 }, (_, index) => spiral(index, 10))
  const nearest = Math.min(...spots.flatMap((a, i) => spots.slice(i + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y))))
  expect(nearest).toBeGreaterThan(5)
})
