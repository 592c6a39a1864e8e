import { useSyncExternalStore } from 'react'
import { asApiError, errorOf } from './error'
import { queryClient } from './query-client'
import { session, sessionHeaders } from './session'
import { readEvents } from './sse'

export type LiveState = 'connecting' | 'live' | 'down' | 'rejected'

/** A burst of events, such as a consolidation or an import, refreshes the page once. */
const REFRESH_DELAY_MS = 300
const MIN_RETRY_DELAY_MS = 500
const MAX_RETRY_DELAY_MS = 10_000

let state: LiveState = 'connecting'
/** The server's reason for rejecting the token. */
let rejection = ''
const listeners = new Set<() => void>()

function setState(next: LiveState) {
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
  }, REFRESH_DELAY_MS)
}

async function readStream(signal: AbortSignal, onOpen: () => void) {
  const headers = { Accept: 'text/event-stream', ...sessionHeaders() }
  const response = await fetch('/api/events', { headers, signal })
  if (!response.ok || !response.body) throw await errorOf(response)
  onOpen()
  await readEvents(response.body, refreshSoon)
}

/** Keeps the event stream open until the signal aborts, and reconnects when it drops. */
export async function followEvents(signal: AbortSignal) {
  let retryDelay = MIN_RETRY_DELAY_MS
  let disconnected = false
  while (!signal.aborted) {
    try {
      await readStream(signal, () => {
        retryDelay = MIN_RETRY_DELAY_MS
        setState('live')
        if (disconnected) refreshSoon()
        disconnected = false
      })
    } catch (error) {
      const { unauthorized, forbidden, message } = asApiError(error)
      if (!signal.aborted) {
        rejection = message
        setState(unauthorized || forbidden ? 'rejected' : 'down')
      }
    }
    disconnected = true
    if (signal.aborted) return
    if (state === 'live') setState('down')
    await new Promise((resolve) => setTimeout(resolve, retryDelay))
    retryDelay = Math.min(MAX_RETRY_DELAY_MS, retryDelay * 2)
  }
}

/** Reconnects when the token or the tenant changes, and drops the cache of the previous one. */
export function startLive() {
  let controller = new AbortController()
  void followEvents(controller.signal)
  session.subscribe(() => {
    controller.abort()
    controller = new AbortController()
    setState('connecting')
    void queryClient.resetQueries()
    void followEvents(controller.signal)
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

export function useRejection(): string {
  return useSyncExternalStore(
    subscribe,
    () => rejection,
    () => rejection,
  )
}
