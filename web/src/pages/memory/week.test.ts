import { expect, test } from 'vitest'
import type { ButlerChanges } from '../../api/schema'
import { changesOf, countsOf, daysOf, namesOf } from './week'

const item = (id: string, at: string) => ({ id, at, event: 'fact_created', memory_type: 'fact', content: id })
const empty = { changed: [], contradicted: [], faded: [], forgotten: [], learned: [] }
const meta = { since: '2026-11-10T00:00:00Z', until: '2026-11-17T00:00:00Z', tokens: 0, left_out: 0 }
const group = (name: string | null, ...changes: ReturnType<typeof item>[]) => ({ name, entity_id: null, changes })

const butlers: ButlerChanges[] = [
  {
    ...meta,
    ...empty,
    butler: 'home',
    learned: [
      group('Maya', item('a', '2026-11-16T12:00:00Z'), item('b', '2026-11-12T12:00:00Z')),
      group('Bo', item('c', '2026-11-16T13:00:00Z')),
    ],
    faded: [group(null, item('d', '2026-11-15T12:00:00Z'))],
    forgotten: [group('Ann', item('e', '2026-11-14T12:00:00Z'))],
  },
  { ...meta, ...empty, butler: 'work', changed: [group('Maya', item('f', '2026-11-16T14:00:00Z'))] },
]

test('changes of several butlers are sorted newest first and counted by section', () => {
  const changes = changesOf(butlers)
  expect(changes.map(({ id }) => id)).toEqual(['f', 'c', 'a', 'd', 'e', 'b'])
  expect(countsOf(changes)).toEqual({ learned: 3, changed: 1, contradicted: 0, lost: 2 })
})

test('the week names those whom most of what was learned is about', () => {
  expect(namesOf(changesOf(butlers))).toEqual(['Maya', 'Bo'])
})

test('a week has seven days that end today', () => {
  const days = daysOf(changesOf(butlers), Date.parse('2026-11-16T15:00:00Z'))
  expect(days.map(({ day }) => day)).toEqual([
    '2026-11-10',
    '2026-11-11',
    '2026-11-12',
    '2026-11-13',
    '2026-11-14',
    '2026-11-15',
    '2026-11-16',
  ])
  expect(days.at(-1)?.counts).toEqual({ learned: 2, changed: 1, contradicted: 0, lost: 0 })
})
