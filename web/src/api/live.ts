import { useSyncExternalStore } from 'react'
import { asApiError, errorOf } from './error'
import { queryClient } from './query-client'
import { session, sessionHeaders } from './session'
import { readEvents } from './sse'

export type LiveState = 'connecting' | 'live' | 'down' | 'refused'

/** Bursts of events (a consolidation, an import) refresh the page once. */
const GATHER_MS = 300
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

let state: LiveState = 'connecting'
/** Why the server let nobody in, in its own words. */
let refusal = ''
const listeners = new Set<() => void>()

function become(next: LiveState) {
  if (next === state) return
  state = next
  for (const listener of listeners) listener()
}

let timer: ReturnType<typeof setTimeout> | undefined

function refreshSoon() {
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    void queryClient.invalidateQueries({ refetchType: 'active' })
  }, GATHER_MS)
}

async function listenOnce(signal: AbortSignal, onOpen: () => void) {
  const headers = { Accept: 'text/event-stream', ...sessionHeaders() }
  const response = await fetch('/api/events', { headers, signal })
  if (!response.ok || !response.body) throw await errorOf(response)
  onOpen()
  await readEvents(response.body, refreshSoon)
}

/** Holds the stream open for as long as the page is; a dropped one is taken up again. */
export async function follow(signal: AbortSignal) {
  let pause = FIRST_PAUSE_MS
  let lost = false
  while (!signal.aborted) {
    try {
      await listenOnce(signal, () => {
        pause = FIRST_PAUSE_MS
        become('live')
        if (lost) refreshSoon()
        lost = false
      })
    } catch (error) {
      const { unauthorized, forbidden, message } = asApiError(error)
      if (!signal.aborted) {
        refusal = message
        become(unauthorized || forbidden ? 'refused' : 'down')
      }
    }
    lost = true
    if (signal.aborted) return
    if (state === 'live') become('down')
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2)
  }
}

/** Starts over when the token or the tenant changes: what was cached belongs to another. */
export function startLive() {
  let controller = new AbortController()
  void follow(controller.signal)
  session.subscribe(() => {
    controller.abort()
    controller = new AbortController()
    become('connecting')
    void queryClient.resetQueries()
    void follow(controller.signal)
  })
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useLive(): LiveState {
  return useSyncExternalStore(
    subscribe,
    () => state,
    () => state,
  )
}

export function useRefusal(): string {
  return useSyncExternalStore(
    subscribe,
    () => refusal,
    () => refusal,
  )
}
