import { expect, test } from 'vitest'
import { combine, type Part, viewOf } from './model'

const entity = (id: string, type: Part['entities'][number]['entity_type'] = 'person') => ({
  entity_id: id,
  canonical_name: `Name of ${id}`,
  entity_type: type,
})
const edge = (id: string, source: string, target: string, more: Partial<Part['edges'][number]> = {}) => ({
  fact_id: id,
  source_entity_id: source,
  target_entity_id: target,
  predicate: 'knows',
  created_at: '2026-03-01T12:00:00Z',
  ...more,
})
const part: Part = {
  entities: ['ada', 'bob', 'cy', 'dee'].map((id) => entity(id)),
  edges: [
    edge('1', 'ada', 'bob'),
    edge('2', 'ada', 'cy', { predicate: 'works_with', created_at: '2026-05-01T12:00:00Z' }),
  ],
}

test('answers are joined, and each fact is one edge in the direction that it states', () => {
  const inverse = edge('1', 'bob', 'ada', { predicate: 'known_by', inferred: true })
  const around: Part = { entities: [entity('bob'), entity('eve')], edges: [inverse, edge('3', 'bob', 'eve')] }
  for (const parts of [
    [part, around],
    [around, part],
  ]) {
    const { nodes, edges } = combine(parts)
    expect([...nodes.keys()].toSorted()).toEqual(['ada', 'bob', 'cy', 'eve'])
    expect([...edges.keys()].toSorted()).toEqual(['1', '2', '3'])
    expect(edges.get('1')).toMatchObject({ source: 'ada', target: 'bob', predicate: 'knows' })
  }
})

test('entities without relations and relations without both ends are left out', () => {
  expect([...combine([part]).nodes.keys()]).not.toContain('dee')
  expect([...combine([part], ['dee']).nodes.keys()]).toContain('dee')
  const { edges } = combine([{ entities: [entity('ada')], edges: [edge('1', 'ada', 'nobody')] }])
  expect(edges.size).toBe(0)
})

test('the best connected entities come first, and a relation is listed on both sides', () => {
  const { nodes, relations } = viewOf(combine([part]), {})
  expect(nodes.map(({ id }) => id)).toEqual(['ada', 'bob', 'cy'])
  expect(relations.get('ada')?.map(({ other, outgoing }) => [other.id, outgoing])).toEqual([
    ['bob', true],
    ['cy', true],
  ])
  expect(relations.get('bob')?.map(({ other, outgoing }) => [other.id, outgoing])).toEqual([['ada', false]])
})

test('a predicate and a date filter the relations; the selected entity stays', () => {
  const graph = combine([part])
  const shown = (filter: Parameters<typeof viewOf>[1]) => {
    const { nodes, edges } = viewOf(graph, filter)
    return [nodes.map(({ id }) => id), edges.map(({ id }) => id)]
  }
  expect(shown({ predicate: 'works_with' })).toEqual([['ada', 'cy'], ['2']])
  expect(shown({ until: '2026-03-01' })).toEqual([['ada', 'bob'], ['1']])
  expect(shown({ until: '2026-02-28' })).toEqual([[], []])
  expect(shown({ until: '2026-02-28', selected: 'ada' })).toEqual([['ada'], []])
})
