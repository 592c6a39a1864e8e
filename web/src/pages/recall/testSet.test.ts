import { expect, test } from 'vitest'
import { hitAtK, parseCases, toggle } from './testSet'

const [a, b] = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
]

test('an expected memory is added and removed, and a case without any goes', () => {
  const one = toggle([], 'why?', a)
  expect(one).toEqual([{ q: 'why?', expected: [a] }])
  expect(toggle(one, 'why?', b)).toEqual([{ q: 'why?', expected: [a, b] }])
  expect(toggle(one, 'why?', a)).toEqual([])
})

test('hit@k is the share of the expected memories among the first k', () => {
  const results = [{ id: 'x' }, a, { id: 'y' }, b]
  expect(hitAtK([a, b], results, 1)).toBe(0)
  expect(hitAtK([a, b], results, 3)).toBe(0.5)
  expect(hitAtK([a, b], results, 5)).toBe(1)
})

test('a file that is no test set is rejected', () => {
  expect(parseCases('[{"q":"why?","expected":[{"id":"a","label":"A","more":1}]}]')).toEqual([
    { q: 'why?', expected: [a] },
  ])
  expect(() => parseCases('{"q":1}')).toThrow('not a test set')
  expect(() => parseCases('[{"q":"why?"}]')).toThrow('not a test set')
})
