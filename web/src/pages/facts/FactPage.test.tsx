// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../open-page'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const at = '2026-03-01T12:00:00Z'
const decay = { confidence: 1, rate: 0, curve: [], if_confirmed_today: {}, fades_on: null, expires_on: null }
const period = (id: string, content: string, when: string, from: string | null, to: string | null) => ({
  id,
  content,
  when,
  validity: when === 'present' ? 'active' : 'superseded',
  holds_from: from,
  holds_to: to,
  created_at: at,
})
const rome = {
  id: 'rome',
  subject: 'Anna',
  predicate: 'lives_in',
  content: 'Rome',
  scope: 'global',
  home: 'general',
  source: 'person',
  state: 'superseded',
  validity: 'superseded',
  permanence: 'stable',
  importance: 5,
  effective_confidence: 1,
  reference_count: 0,
  created_at: at,
  valid_from: '2023-03',
  observed_at: '2026-01-10',
  tags: [],
  links: [],
  events: [],
  provenance: [],
  supersession_chain: [],
  decay,
  timeline: [
    { ...period('oslo', 'Oslo', 'past', null, '2023-03-01T00:00:00Z'), valid_to: '2023-03-01T00:00:00Z' },
    { ...period('rome', 'Rome', 'present', '2023-03-01T00:00:00Z', null), valid_from: '2023-03' },
    { ...period('bern', 'Bern', 'future', '9000-01-01T00:00:00Z', null), valid_from: '9000' },
    period('bonn', 'Bonn', 'never', at, at),
  ],
}
const answers = { 'GET /api/memory/facts/rome': rome }

test('the timeline is a list of links with dates, and what was never true is apart', async () => {
  openPage('/memory/facts/rome', answers)
  const list = await screen.findByRole('list', { name: /^Periods/ })
  const rows = within(list).getAllByRole('link')
  expect(rows.map((row) => row.getAttribute('href'))).toEqual(
    ['oslo', 'rome', 'bern'].map((id) => `/memory/facts/${id}`),
  )
  expect(rows[0]?.textContent).toContain('until 1 Mar 2023')
  expect(rows[1]?.textContent).toContain('since Mar 2023')
  expect(rows[1]?.textContent).toContain('now')
  expect(rows[1]?.getAttribute('aria-current')).toBe('page')
  expect(rows[2]?.textContent).toContain('from 9000')
  const never = screen.getByRole('list', { name: 'Never true' })
  expect(within(never).getByRole('link', { name: 'Bonn' }).getAttribute('href')).toBe('/memory/facts/bonn')
})

test('the details show the dates', async () => {
  openPage('/memory/facts/rome', answers)
  expect((await screen.findByText('Valid from')).nextElementSibling?.textContent).toBe('Mar 2023')
  expect(screen.getByText('Observed').nextElementSibling?.textContent).toBe('10 Jan 2026')
})

test('an edit sends the dates that changed; an error is shown beside its field', async () => {
  const message = 'valid_to: is "2020", which is before valid_from (2023-03)'
  const live = { ...rome, state: 'active', validity: 'active', timeline: [] }
  const { calls } = openPage('/memory/facts/rome', {
    'GET /api/memory/facts/rome': live,
    'GET /api/memory/facts/rome2': { ...live, id: 'rome2' },
    'PUT /api/memory/facts/rome': ({ body }: { body: { valid_to?: string } }) =>
      body.valid_to === '2020'
        ? Response.json({ error: { code: 'invalid_argument', message } }, { status: 400 })
        : { id: 'rome2' },
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Edit' }))
  const save = screen.getByRole('button', { name: 'Save' }) as HTMLButtonElement
  expect(save.disabled).toBe(true)
  expect((screen.getByLabelText('Valid from') as HTMLInputElement).value).toBe('2023-03')
  const until = screen.getByLabelText('Valid until')
  fireEvent.change(until, { target: { value: '2020' } })
  fireEvent.click(save)
  expect((await screen.findByRole('alert')).textContent).toContain(message)
  expect(until.getAttribute('aria-invalid')).toBe('true')
  expect(until.getAttribute('aria-describedby')).toContain(screen.getByRole('alert').id)
  fireEvent.change(until, { target: { value: '2027' } })
  fireEvent.click(save)
  expect(await screen.findByText('Saved as a new version.')).toBeTruthy()
  expect(calls.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([
    { valid_to: '2020' },
    { valid_to: '2027' },
  ])
})
