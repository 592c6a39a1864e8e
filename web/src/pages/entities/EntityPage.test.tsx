// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { type Answers, openPage } from '../open-page'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const at = '2026-03-01T12:00:00Z'
const ada = {
  id: 'a',
  entity_id: 'a',
  canonical_name: 'Ada',
  entity_type: 'person',
  aliases: ['Countess'],
  home: 'general',
  created_at: at,
  updated_at: at,
  metadata: {},
  events: [],
  facts_total: 0,
  past_facts_total: 0,
  predicates: [],
  related: [],
  merged_into: null,
  merged_into_name: null,
  merges: [{ source_entity_id: 'x', canonical_name: 'Ada L.', merged_at: at, facts_moved: 2 }],
  duplicates: [{ id: 'b', canonical_name: 'Ada Lovelace', entity_type: 'person', similarity: 0.72, facts: 3 }],
  mentions: [{ id: 'e1', content: 'Ada came by', created_at: at }],
  mentions_total: 12,
}
const answers: Answers = {
  'GET /api/memory/entities/a': ada,
  'GET /api/memory/entities/a/neighbors': {
    home: 'general',
    entities: [{ entity_id: 'b', canonical_name: 'Bob', entity_type: 'person', depth: 1 }],
    edges: [
      {
        fact_id: 'f1',
        source_entity_id: 'a',
        target_entity_id: 'b',
        predicate: 'works_with',
        content: 'Ada works with Bob',
        effective_confidence: 0.9,
        depth: 1,
        inferred: false,
        created_at: at,
      },
    ],
  },
}
const profile = (id: string, name: string) => ({
  entity_id: id,
  canonical_name: name,
  entity_type: 'person',
  aliases: [],
  facts_total: 1,
  facts: [{ predicate: 'speaks', content: `the words of ${name}` }],
})

test('the profile shows relations, mentions, likely duplicates and merges', async () => {
  openPage('/entities/a', answers)
  const relations = await screen.findByRole('list', { name: 'Relations' })
  expect(within(relations).getByRole('link', { name: 'Bob' }).getAttribute('href')).toBe('/entities/b')
  expect(within(relations).getByText('Works with')).toBeTruthy()
  expect(screen.getByText(/The latest 1 of 12/)).toBeTruthy()
  expect(screen.getByText(/72% alike · 3 facts/)).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Undo the merge of Ada L.' })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Show in graph' }).getAttribute('href')).toBe(
    '/graph?entity=a&butler=general',
  )
})

test('an edit sends what changed; a rejection shows the error and its hint', async () => {
  const rejection = { error: { code: 'conflict', message: 'Bob is an alias of Bo', hint: 'merge the two' } }
  let saved = false
  const { calls } = openPage('/entities/a', {
    ...answers,
    'PUT /api/memory/entities/a': () => (saved ? { entity_id: 'a' } : Response.json(rejection, { status: 409 })),
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Edit' }))
  const save = screen.getByRole('button', { name: 'Save' })
  expect((save as HTMLButtonElement).disabled).toBe(true)
  fireEvent.change(screen.getByLabelText('Aliases, one per line'), { target: { value: 'Countess\nBob' } })
  fireEvent.click(save)
  expect((await screen.findByRole('alert')).textContent).toContain('merge the two')
  saved = true
  fireEvent.click(save)
  expect(await screen.findByText('Saved.')).toBeTruthy()
  expect(calls.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([
    { aliases: ['Countess', 'Bob'] },
    { aliases: ['Countess', 'Bob'] },
  ])
})

test('the merge preview shows both profiles and contradictions, and the direction can be swapped', async () => {
  const preview = (source: [string, string], target: [string, string]) => ({
    facts_repointed: 1,
    aliases_added: 0,
    aliases: [],
    conflicts: [],
    contradictions: [{ predicate: 'born_in', source: 'London', target: 'Paris' }],
    source: profile(...source),
    target: profile(...target),
  })
  const { calls } = openPage('/entities/a', {
    ...answers,
    'POST /api/memory/entities/a/merge': preview(['a', 'Ada'], ['b', 'Ada Lovelace']),
    'POST /api/memory/entities/b/merge': preview(['b', 'Ada Lovelace'], ['a', 'Ada']),
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Merge with Ada Lovelace' }))
  expect(await screen.findByRole('region', { name: 'Merged away: Ada' })).toBeTruthy()
  expect(screen.getByRole('region', { name: 'Kept: Ada Lovelace' }).textContent).toContain('the words of Ada Lovelace')
  expect(screen.getByRole('list', { name: 'Contradictions' }).textContent).toContain('London ≠ Paris')
  fireEvent.click(screen.getByRole('button', { name: 'Keep Ada instead' }))
  expect(await screen.findByRole('region', { name: 'Kept: Ada' })).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Merge entities' }))
  expect(await screen.findByText('Ada Lovelace merged into Ada.')).toBeTruthy()
  const merge = calls.find(({ path, query }) => path.endsWith('/merge') && !query.has('preview'))
  expect(merge).toMatchObject({ path: '/api/memory/entities/b/merge', body: { target_entity_id: 'a' } })
})

test('forgetting sends the mentions that are not kept; erasing requires the name', async () => {
  const mentions = {
    facts: [{ id: 'f2', text: 'Bob met Ada' }],
    rules: [{ id: 'r1', text: 'Greet Ada' }],
    episodes: [],
    totals: { facts: 1, rules: 1, episodes: 0 },
  }
  const { calls, router } = openPage('/entities/a', {
    ...answers,
    'GET /api/memory/entities': [],
    'POST /api/memory/entities/a/forget': ({ body }: { body: object }) => ({
      entity_id: 'a',
      canonical_name: 'Ada',
      facts: 4,
      edges: 1,
      mentions,
      backups: [{ name: 'nightly', created_at: at, until: null }],
      ...body,
    }),
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Forget everything' }))
  const dialog = within(await screen.findByRole('dialog'))
  fireEvent.click(await dialog.findByRole('checkbox', { name: 'Greet Ada' }))
  fireEvent.click(dialog.getByRole('button', { name: 'Erase permanently' }))
  expect(await dialog.findByText(/kept until you delete it/)).toBeTruthy()
  const erase = dialog.getByRole('button', { name: 'Erase everything' }) as HTMLButtonElement
  expect(erase.disabled).toBe(true)
  fireEvent.change(dialog.getByLabelText('Type Ada to confirm'), { target: { value: 'Ada' } })
  fireEvent.click(erase)
  expect(await screen.findByText('Erased everything about Ada: 4 facts, 1 relation, 2 mentions.')).toBeTruthy()
  expect(calls.findLast(({ path }) => path.endsWith('/forget'))?.body).toEqual({
    erase: true,
    dry_run: false,
    fact_ids: ['f2'],
    rule_ids: [],
    episode_ids: [],
  })
  await vi.waitFor(() => expect(router.state.location.pathname).toBe('/entities'))
})

test('a merged entity offers to undo the merge', async () => {
  const { calls } = openPage('/entities/a', {
    ...answers,
    'GET /api/memory/entities/a': { ...ada, merged_into: 'b', merged_into_name: 'Ada Lovelace' },
    'POST /api/memory/entities/a/unmerge': { facts_moved: 2 },
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Undo merge' }))
  expect(await screen.findByText('Merge undone. 2 facts moved back.')).toBeTruthy()
  expect(calls.some(({ path }) => path.endsWith('/a/unmerge'))).toBe(true)
})

const home = (id: string, content: string, more: object) => ({
  predicate: 'lives_in',
  facts: [
    {
      id,
      subject: 'Ada',
      predicate: 'lives_in',
      content,
      scope: 'global',
      state: 'active',
      permanence: 'stable',
      importance: 5,
      confidence: 1,
      decay_rate: 0,
      effective_confidence: 1,
      created_at: at,
      tags: [],
      ...more,
    },
  ],
})

test('the profile is shown as it was on a day, without edits, and Now brings the present back', async () => {
  const { calls, router } = openPage('/entities/a', {
    ...answers,
    'GET /api/memory/entities/a': ({ query }: { query: URLSearchParams }) => ({
      ...ada,
      predicates: query.has('valid_at')
        ? [home('f3', 'Oslo', { valid_to: '2024-03', state: 'superseded' })]
        : [home('f4', 'Rome', { valid_from: '2024-03' })],
    }),
  })
  const facts = async () => (await screen.findByRole('list', { name: 'Lives in' })).textContent
  expect(await facts()).toContain('since Mar 2024')
  const slider = screen.getByRole('slider', { name: 'As it was on' })
  expect(slider.getAttribute('aria-valuetext')).toBe('now')
  const believed = screen.getByRole('checkbox', { name: 'as believed then' }) as HTMLInputElement
  expect(believed.disabled).toBe(true)
  fireEvent.change(screen.getByLabelText('Date'), { target: { value: '2023-05-06' } })
  expect(await screen.findByText('As it was on 6 May 2023')).toBeTruthy()
  expect(await screen.findByText('until Mar 2024 ·')).toBeTruthy()
  expect(await facts()).toContain('Oslo')
  expect(slider.getAttribute('aria-valuetext')).toBe('6 May 2023')
  for (const name of ['Edit', 'Merge', 'Forget everything', 'Edit Ada lives_in'])
    expect(screen.queryByRole('button', { name }), name).toBeNull()
  const neighbours = calls.findLast(({ path }) => path.endsWith('/neighbors'))
  expect(neighbours?.query.get('valid_at')).toBe('2023-05-06')
  fireEvent.click(believed)
  expect(await screen.findByText('As it was on 6 May 2023, as believed then')).toBeTruthy()
  expect(router.state.location.search).toEqual({ valid_at: '2023-05-06', as_of: '2023-05-06' })
  await vi.waitFor(() => expect(calls.some(({ query }) => query.get('as_of') === '2023-05-06')).toBe(true))
  fireEvent.click(screen.getByRole('button', { name: 'Now' }))
  expect(await screen.findByRole('button', { name: 'Edit' })).toBeTruthy()
  expect(await facts()).toContain('Rome')
  expect(router.state.location.search).toEqual({})
})
