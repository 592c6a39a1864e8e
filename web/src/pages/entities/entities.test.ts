import { expect, test } from 'vitest'
import { aliasesOf, changesOf } from './changes'
import { chosenIds } from './forgotten'

const ada = { canonical_name: 'Ada', entity_type: 'person' as const, aliases: ['Countess', 'A. L.'] }

test('aliases are one per line, without empty lines and repetitions', () => {
  expect(aliasesOf(' Countess \n\nA. L.\nCountess')).toEqual(['Countess', 'A. L.'])
})

test('an edit sends only what changed', () => {
  expect(changesOf(ada, { ...ada, canonical_name: ' Ada ' })).toEqual({})
  expect(changesOf(ada, { ...ada, aliases: ['A. L.', 'Countess'] }), 'the order does not count').toEqual({})
  expect(changesOf(ada, { ...ada, canonical_name: 'Ada Lovelace' })).toEqual({ canonical_name: 'Ada Lovelace' })
  expect(changesOf(ada, { ...ada, entity_type: 'other', aliases: [] })).toEqual({ entity_type: 'other', aliases: [] })
})

test('every mention goes unless it is kept, and no list is omitted', () => {
  const list = (...ids: string[]) => ids.map((id) => ({ id, text: '' }))
  const mentions = { facts: list('f1', 'f2'), rules: list('r1'), episodes: list() }
  expect(chosenIds({ mentions }, new Set())).toEqual({ fact_ids: ['f1', 'f2'], rule_ids: ['r1'], episode_ids: [] })
  expect(chosenIds({ mentions }, new Set(['f2', 'r1']))).toEqual({ fact_ids: ['f1'], rule_ids: [], episode_ids: [] })
})
