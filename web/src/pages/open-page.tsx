/** For tests: opens a page of the dashboard against prepared answers of the server. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRouter, RouterProvider } from '@tanstack/react-router'
import { configure, render } from '@testing-library/react'
import { vi } from 'vitest'
import { router } from '../router'

// generous, because test machines are busy and a wait ends as soon as it can
configure({ asyncUtilTimeout: 15_000 })
vi.setConfig({ testTimeout: 60_000 })

export interface Call {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
}

/** Answers by method and path: the `data` of the response, or a function that computes it. */
export type Answers = Record<string, unknown>

const always: Answers = {
  'GET /api/server': { rights: ['read', 'write', 'admin'], tenants: [], auth_required: false },
  'GET /api/butlers': [],
}

/** Renders the page. Returns the calls that it makes and its router. A request without an answer is "not found". */
export function openPage(path: string, answers: Answers) {
  const calls: Call[] = []
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    const url = new URL(address, 'http://localhost')
    const method = init.method ?? 'GET'
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const call = { method, path: url.pathname, query: url.searchParams, body }
    calls.push(call)
    const answer = { ...always, ...answers }[`${method} ${url.pathname}`]
    const data: unknown = typeof answer === 'function' ? answer(call) : answer
    if (data === undefined) return Response.json({ error: { message: `nothing at ${address}` } }, { status: 404 })
    return data instanceof Response ? data : Response.json({ data, meta: {} })
  })
  const opened = createRouter({ ...router.options, history: createMemoryHistory({ initialEntries: [path] }) })
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={opened} />
    </QueryClientProvider>,
  )
  return { calls, router: opened }
}
