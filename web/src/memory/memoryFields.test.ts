import { expect, test } from 'vitest'
import { changedFields, fieldTexts } from './memoryFields'

const known = {
  subject: 'Anna',
  predicate: 'lives_in',
  scope: 'global',
  permanence: 'stable',
  importance: 5,
  tags: ['home', 'city'],
}

test('an untouched form changes nothing', () => {
  expect(changedFields(known, fieldTexts(known))).toEqual({})
})

test('only what differs is sent, trimmed, and tags become a list without repetitions', () => {
  const texts = {
    ...fieldTexts(known),
    subject: ' Anne ',
    importance: '7.5',
    tags: 'home, , home,flat',
    predicate: ' ',
  }
  expect(changedFields(known, texts)).toEqual({ subject: 'Anne', importance: 7.5, tags: ['home', 'flat'] })
})

test('all tags can be removed', () => {
  expect(changedFields(known, { ...fieldTexts(known), tags: '' })).toEqual({ tags: [] })
})
