// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { openPage } from '../open-page'
import { windowText } from './window'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

test('a window is shown by its days', () => {
  const shown = (from: string | null, to: string | null) => windowText({ from, to, phrase: '' })
  expect(shown('2031-01-01T00:00:00Z', '2032-01-01T00:00:00Z')).toBe('1 Jan 2031 to 31 Dec 2031')
  expect(shown('2024-03-05T00:00:00Z', '2024-03-06T00:00:00Z')).toBe('5 Mar 2024')
  expect(shown('2023-01-01T00:00:00Z', null)).toBe('from 1 Jan 2023')
  expect(shown(null, '2023-01-01T00:00:00Z')).toBe('until 31 Dec 2022')
})

const answer = (time: object) => ({
  results: [],
  trace: { weights: null, time },
  context: { text: '', tokens: 0, token_budget: 100 },
})

test('the lab asks about a time and shows which words of time were understood', async () => {
  const { calls } = openPage('/recall?q=homes%20in%202031', {
    'GET /api/memory/stats': { butlers: [{ butler: 'general', facts: 1, rules: 0 }] },
    'GET /api/memory/recall': ({ query }: { query: URLSearchParams }) =>
      query.has('valid_at')
        ? answer({ window: null, ignored: [{ phrase: 'on 03/04/2023', reason: 'it could be two dates' }] })
        : answer({
            window: { from: '2031-01-01T00:00:00Z', to: '2032-01-01T00:00:00Z', phrase: 'in 2031' },
            ignored: [],
          }),
  })
  expect((await screen.findByText(/Understood “in 2031”/)).textContent).toContain('1 Jan 2031 to 31 Dec 2031')
  fireEvent.change(screen.getByLabelText('Valid at'), { target: { value: '2030' } })
  fireEvent.change(screen.getByLabelText('As of'), { target: { value: '2031-05' } })
  fireEvent.click(screen.getByRole('button', { name: 'Recall' }))
  expect(await screen.findByText(/Ignored “on 03\/04\/2023”: it could be two dates/)).toBeTruthy()
  expect(Object.fromEntries(calls.at(-1)?.query ?? [])).toMatchObject({ valid_at: '2030', as_of: '2031-05' })
})
