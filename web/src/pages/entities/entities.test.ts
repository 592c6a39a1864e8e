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

test('every mention goes unless it is kept; a list is omitted only if it is cut and nothing is kept', () => {
  const list = (...ids: string[]) => ids.map((id) => ({ id, text: '' }))
  const totals = { facts: 2, rules: 1, episodes: 0 }
  const mentions = { facts: list('f1', 'f2'), rules: list('r1'), episodes: list(), totals }
  expect(chosenIds({ mentions }, new Set())).toEqual({ fact_ids: ['f1', 'f2'], rule_ids: ['r1'], episode_ids: [] })
  expect(chosenIds({ mentions }, new Set(['f2', 'r1']))).toEqual({ fact_ids: ['f1'], rule_ids: [], episode_ids: [] })
  const cut = { ...mentions, totals: { ...totals, facts: 300 } }
  expect(chosenIds({ mentions: cut }, new Set()).fact_ids).toBeUndefined()
  expect(chosenIds({ mentions: cut }, new Set(['f2'])).fact_ids).toEqual(['f1'])
})
