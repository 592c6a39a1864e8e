import { expect, test } from 'vitest'
import { diffWords } from './diff'

const text = (before: string, after: string) =>
  diffWords(before, after).map((piece) => ({ same: '', added: '+', removed: '-' })[piece.kind] + piece.text)

test('a changed word is a removal and an addition', () => {
  expect(text('allergic to peanuts', 'allergic to shellfish')).toEqual(['allergic to ', '-peanuts', '+shellfish'])
})

test('equal texts have no difference, and empty texts have no pieces', () => {
  expect(text('same words', 'same words')).toEqual(['same words'])
  expect(text('', '')).toEqual([])
})

test('very long texts are shown as fully replaced', () => {
  const long = 'word '.repeat(2000)
  expect(diffWords(long, 'short').map((piece) => piece.kind)).toEqual(['removed', 'added'])
})

test('consecutive changed words are one change', () => {
  expect(text('meet at the old harbour gate at nine', 'meet at the new town hall at nine')).toEqual([
    'meet at the ',
    '-old harbour gate',
    '+new town hall',
    ' at nine',
  ])
})

test('texts that share only common words are shown as fully replaced', () => {
  expect(text('the last two weeks of July', 'a long weekend of hiking')).toEqual([
    '-the last two weeks of July',
    '+a long weekend of hiking',
  ])
})
