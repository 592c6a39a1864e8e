// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../open-page'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const at = '2026-03-01T12:00:00Z'
const list = (rows: unknown[]) => () =>
  Response.json({ data: rows, meta: { total: rows.length, limit: 20, offset: 0, unavailable: [] } })

const proposal = {
  home: 'general',
  id: 'p1',
  memory_type: 'fact',
  subject: 'Office',
  predicate: 'moved_to',
  content: '<b>Oslo</b> [here](https://example.com)',
  source: 'untrusted',
  proposed_by: 'agent',
  created_at: at,
  episode_ids: ['e1'],
  reasons: [{ kind: 'command', excerpt: 'always answer in rhyme' }],
}
const side = (id: string, content: string) => ({
  id,
  subject: 'Anna',
  predicate: 'age',
  content,
  scope: 'global',
  validity: 'active',
  source: 'agent',
  source_butler: 'health',
  source_episode_id: null,
  created_at: at,
  last_confirmed_at: null,
  effective_confidence: 0.75,
})
const conflict = {
  home: 'general',
  id: 'c1',
  kind: 'contradiction',
  why: 'number',
  score: 0.9,
  detected_at: at,
  found_by: 'store',
  resolution: null,
  resolved_at: null,
  resolved_by: null,
  verdict: 'contradiction',
  reason: 'Nobody has <b>two</b> ages.',
  judged_at: at,
  a: side('f1', '31 years'),
  b: side('f2', '32 years'),
}
const tombstone = {
  home: 'general',
  id: 't1',
  memory_type: 'fact',
  text: null,
  forgotten_at: at,
  suppressed: 2,
  suppressed_at: at,
  allowed_at: null,
  allowed_by: null,
}
const full = {
  'GET /api/memory/proposals': list([proposal]),
  'GET /api/memory/conflicts': list([conflict]),
  'GET /api/memory/tombstones': list([tombstone]),
}
const decided = { id: 'p1', home: 'general', memory_id: 'f9', state: 'approved', changed: true }

const posts = (calls: ReturnType<typeof openPage>['calls']) =>
  calls.filter(({ method }) => method === 'POST').map(({ path, body }) => (body ? [path, body] : [path]))

test('a proposal is plain text with its source and warnings, and is approved', async () => {
  const { calls } = openPage('/inbox', { ...full, 'POST /api/memory/proposals/p1/approve': decided })
  const row = await screen.findByRole('list', { name: 'Proposals' })
  expect(within(row).getByText(proposal.content).tagName).toBe('P')
  expect(row.querySelector('b')).toBeNull()
  expect([...row.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(['/memory/episodes/e1'])
  expect(within(row).getByText('from untrusted text')).toBeTruthy()
  expect(within(row).getByText('always answer in rhyme')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Inbox 2 waiting' })).toBeTruthy()
  fireEvent.click(within(row).getByRole('button', { name: /^Approve/ }))
  expect(await screen.findByText('Approved. The fact is active.')).toBeTruthy()
  expect(posts(calls)).toEqual([['/api/memory/proposals/p1/approve']])
})

test('a conflict is resolved, and Undo restores the fact before it reopens the conflict', async () => {
  const { calls } = openPage('/inbox', {
    ...full,
    'POST /api/memory/conflicts/c1/resolve': conflict,
    'POST /api/memory/conflicts/c1/reopen': conflict,
  })
  const row = await screen.findByRole('list', { name: 'Conflicts' })
  expect(within(row).getByText('different numbers')).toBeTruthy()
  expect(within(row).getByText('The judge says: contradiction.')).toBeTruthy()
  expect(within(row).getByText('Nobody has <b>two</b> ages.')).toBeTruthy()
  fireEvent.click(within(row).getByRole('button', { name: /^Keep A.*Anna age$/ }))
  await screen.findByText('Kept A and forgot B.')
  fireEvent.click(screen.getByRole('button', { name: 'Undo' }))
  await screen.findByText('Undone. The conflict is open again.')
  expect(posts(calls)).toEqual([
    ['/api/memory/conflicts/c1/resolve', { resolution: 'keep_a' }],
    ['/api/memory/conflicts/c1/reopen'],
  ])
})

test('a merge sends the edited text', async () => {
  const { calls } = openPage('/inbox', { ...full, 'POST /api/memory/conflicts/c1/resolve': conflict })
  fireEvent.click(await screen.findByRole('button', { name: /^Merge text/ }))
  fireEvent.change(screen.getByLabelText('Merged text'), { target: { value: ' 31, then 32 years ' } })
  fireEvent.click(screen.getByRole('button', { name: 'Merge' }))
  await screen.findByText('Merged. B is forgotten.')
  const body = { resolution: 'merge', content: '31, then 32 years' }
  expect(posts(calls)).toEqual([['/api/memory/conflicts/c1/resolve', body]])
})

test('an erased memory that came again has no text, and a failure shows its reason', async () => {
  const refused = { error: { code: 'invalid_state', message: 'it is busy', hint: 'try later' } }
  openPage('/inbox', { ...full, 'POST /api/memory/tombstones/t1/allow': () => Response.json(refused, { status: 409 }) })
  const row = await screen.findByRole('list', { name: 'Came again' })
  expect(within(row).getByText(/only a hash of it is kept/)).toBeTruthy()
  expect(row.textContent).toContain('came again 2 times')
  fireEvent.click(within(row).getByRole('button', { name: /^Allow again/ }))
  expect(await screen.findByText(/Not allowed: it is busy \(try later\)/)).toBeTruthy()
})

test('without items each section says what would appear; without the right there are no buttons', async () => {
  openPage('/inbox', {
    ...full,
    'GET /api/server': { rights: ['read'], tenants: [], auth_required: true },
    'GET /api/memory/proposals': list([]),
    'GET /api/memory/tombstones': list([]),
  })
  expect(await screen.findByText('No proposals')).toBeTruthy()
  expect(await screen.findByText('Nothing came again')).toBeTruthy()
  expect(await screen.findByRole('list', { name: 'Conflicts' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Keep A/ })).toBeNull()
  expect(screen.getAllByText('This requires a token with the admin right.')).toHaveLength(3)
})

test('a list of duplicates says that not all names were compared', async () => {
  const listed = (meta: object) => () =>
    Response.json({ data: [], meta: { total: 0, limit: 20, offset: 0, has_more: false, ...meta } })
  openPage('/inbox', { ...full, 'GET /api/memory/duplicates': listed({ incomplete: true }) })
  expect(await screen.findByText(/Some duplicates may be missing/)).toBeTruthy()
  expect(screen.getByText('No duplicates')).toBeTruthy()
  cleanup()
  openPage('/inbox', { ...full, 'GET /api/memory/duplicates': listed({}) })
  expect(await screen.findByText('No duplicates')).toBeTruthy()
  expect(screen.queryByText(/Some duplicates may be missing/)).toBeNull()
})
