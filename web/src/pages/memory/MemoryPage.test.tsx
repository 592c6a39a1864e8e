// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../open-page'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  localStorage.clear()
})

const stats = {
  facts: { total: 3, known: 3, fading: 0 },
  rules: { total: 0, known: 0, fading: 0 },
  episodes: { total: 0, unconsolidated: 0 },
  entities: 0,
  attention: [],
}
const list = () => Response.json({ data: [], meta: { total: 0, limit: 1, offset: 0, unavailable: [] } })
const server = { rights: ['read', 'write', 'admin'], tenant: 'default', auth_required: false }
const roster = (size: number) => Array.from({ length: size }, (_, n) => ({ name: `b${n}`, health: 'ready' }))
const answers = (butlers: number, figures: object = stats) => ({
  'GET /api/butlers': roster(butlers),
  'GET /api/server': server,
  'GET /api/memory/stats': figures,
  'GET /api/memory/changes': [],
  'GET /api/memory/injections': list,
  'GET /api/memory/proposals': list,
  'GET /api/memory/conflicts': list,
})
const figures = ['stats', 'changes', 'injections', 'proposals', 'conflicts'].map((name) => `/api/memory/${name}`)

test('of many butlers, the first page asks one', async () => {
  const { calls } = openPage('/memory', answers(13))
  await screen.findByRole('navigation', { name: 'Totals' })
  const requests = calls.filter(({ path }) => figures.includes(path))
  expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(figures))
  expect(new Set(requests.map(({ query }) => query.get('butler')))).toEqual(new Set(['b0']))
  expect(screen.getByRole('link', { name: /3 facts/ }).getAttribute('href')).toBe('/facts?butler=b0')
  fireEvent.change(screen.getByLabelText('Butler'), { target: { value: 'b7' } })
  await waitFor(() => expect(calls.at(-1)?.query.get('butler')).toBe('b7'))
  fireEvent.change(screen.getByLabelText('Butler'), { target: { value: '' } })
  await waitFor(() => expect(calls.at(-1)?.query.has('butler')).toBe(false))
})

test('a few butlers are shown together', async () => {
  const { calls } = openPage('/memory', answers(3))
  await screen.findByRole('navigation', { name: 'Totals' })
  expect(calls.some(({ query }) => query.has('butler'))).toBe(false)
  expect(screen.queryByLabelText('Butler')).toBeNull()
})

test('the first steps start with an empty memory and end when the person hides them', async () => {
  const empty = { ...stats, facts: { total: 0, known: 0, fading: 0 } }
  openPage('/memory', answers(1, empty))
  await screen.findByText('Nothing is remembered yet.')
  cleanup()
  openPage('/memory', answers(1))
  await screen.findByRole('region', { name: 'Getting started' })
  await screen.findByRole('navigation', { name: 'Totals' })
  fireEvent.click(screen.getByRole('button', { name: 'Hide these steps' }))
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Getting started' })).toBeNull())
})
