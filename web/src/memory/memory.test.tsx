// @vitest-environment happy-dom
import { readFileSync } from 'node:fs'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { ApiError } from '../api/error'
import { permanenceGlyph } from '../lib/labels'
import { Confidence } from '../ui/Confidence'
import { Failure } from '../ui/states'
import { MaturityBadge, StateBadge, StatusBadge } from './badges'
import { actorName, change, eventLabel, eventTone, eventTypes, isHousekeeping } from './events'
import { labelOf, relationLabel } from './links'
import { record } from './RuleList'

afterEach(cleanup)

test('fading and fresh memories differ without colour', () => {
  const { container: fresh } = render(<Confidence value={0.8} />)
  const { container: fading } = render(<Confidence value={0.15} fading />)
  expect(fading.querySelectorAll('rect').length).toBeGreaterThan(fresh.querySelectorAll('rect').length)
  render(<StateBadge state="fading" />)
  expect(screen.getByText('fading')).toBeTruthy()
})

test('fading has its own glyph and colour', () => {
  expect(Object.values(permanenceGlyph)).not.toContain('◌')
  expect(new Set(Object.values(permanenceGlyph)).size).toBe(5)
  const others = ['fact_created', 'fact_expired', 'rule_marked_harmful', 'episode_consolidated'].map(eventTone)
  expect(others).not.toContain(eventTone('fact_fading'))
  expect(eventTypes.filter((type) => eventLabel(type)[0] === '◌')).toEqual(['fact_fading', 'rule_fading'])
})

test('every status and maturity has its own label and glyph', () => {
  const look = (badges: React.ReactElement[]) =>
    badges.map((badge) => {
      const { container } = render(badge)
      const glyph = container.querySelector('[aria-hidden]')?.textContent ?? ''
      return [glyph, container.textContent?.replace(glyph, '')]
    })
  const statuses = look(
    ['pending', 'consolidated', 'failed', 'dead_letter'].map((status) => <StatusBadge key={status} status={status} />),
  )
  expect(statuses).toEqual([
    ['○', 'Pending'],
    ['●', 'Consolidated'],
    ['△', 'Failed'],
    ['✕', 'Dead letter'],
  ])
  const levels = look(
    ['candidate', 'established', 'proven', 'anti_pattern'].map((maturity) => (
      <MaturityBadge key={maturity} maturity={maturity} />
    )),
  )
  expect(levels).toEqual([
    ['○', 'Candidate'],
    ['◐', 'Established'],
    ['●', 'Proven'],
    ['⚠', 'Warning'],
  ])
  const states = look(
    ['active', 'fading', 'superseded', 'expired'].map((state) => <StateBadge key={state} state={state} always />),
  )
  expect(new Set(states.map(([glyph]) => glyph)).size).toBe(4)
})

test('housekeeping is distinguished from changes to knowledge', () => {
  expect(isHousekeeping('fact_created')).toBe(false)
  expect(isHousekeeping('episode_evicted')).toBe(true)
})

test('a promotion shows the change of maturity', () => {
  const event = {
    id: '1',
    event_type: 'rule_promoted',
    created_at: '',
    payload: { before: { maturity: 'candidate' }, after: { maturity: 'established' } },
  }
  expect(change(event)).toBe('candidate → established')
  expect(change({ ...event, payload: null })).toBeNull()
})

test('an update of an entity says what changed', () => {
  const updated = (before: object, after: object) =>
    change({ id: 'e', event_type: 'entity_updated', created_at: '2026-01-01T00:00:00Z', payload: { before, after } })
  expect(updated({ aliases: ['Ann'] }, { aliases: ['Ann', 'A. Lee'] })).toBe('also called A. Lee')
  expect(updated({ aliases: ['Ann', 'A. Lee'] }, { aliases: ['Ann'] })).toBe('no longer called A. Lee')
  expect(updated({ metadata: {} }, { metadata: { owner: true } })).toBe('owner')
  expect(updated({ canonical_name: 'Ann' }, { canonical_name: 'Anna' })).toBe('Ann → Anna')
  expect(updated({}, {})).toBeNull()
})

test('a token is shown by its name, without its id', () => {
  const id = '01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e'
  expect(actorName(`token:Ann: laptop:${id}`)).toBe('token Ann: laptop')
  expect(actorName(`token:${id}`)).toBe(`unnamed token ${id.slice(0, 8)}…`)
  expect(actorName('decay_sweep')).toBe('decay sweep')
})

test('an expired episode is labelled instead of linked', () => {
  expect(labelOf({ label: null, memory_type: 'episode' })).toBe('expired episode')
  expect(relationLabel({ side: 'outgoing', relation: 'derived_from' })).toBe('learned from')
  expect(relationLabel({ side: 'incoming', relation: 'derived_from' })).toBe('led to')
})

test('a rule that was never applied has no effectiveness', () => {
  const none = { applied_count: 0, success_count: 0, harmful_count: 0, effectiveness_score: 0 }
  expect(record(none)).toBe('not applied yet')
  expect(record({ applied_count: 4, success_count: 3, harmful_count: 1, effectiveness_score: 0.75 })).toBe(
    '3 helpful, 1 harmful · 75% effective',
  )
})

test('a failure shows the error and a hint', () => {
  render(<Failure error={new ApiError(503, 'unavailable', 'the database is unavailable', 'try again in a moment')} />)
  expect(screen.getByRole('alert').textContent).toContain('try again in a moment')
  render(<Failure error={new ApiError(0, 'unreachable', 'the server is not responding')} />)
  expect(screen.getByText(/butler serve/)).toBeTruthy()
})

test('every event type of the server has a label', () => {
  const source = readFileSync('../crates/domain/src/event.rs', 'utf8')
  const types = [...(/events! \{(.*?)\n\}/s.exec(source)?.[1] ?? '').matchAll(/= "(\w+)"/g)].map(
    (match) => match[1] as string,
  )
  expect(types.length).toBeGreaterThan(30)
  expect(eventTypes.toSorted()).toEqual(types.toSorted())
})
