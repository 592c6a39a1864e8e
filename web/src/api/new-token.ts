import { useSyncExternalStore } from 'react'

/**
 * A token that was just created and is shown only once. It is kept outside the pages, because creating the first token
 * signs every page out.
 */
export interface NewToken {
  token: string
  name: string
  /** This tab had no token and now uses this one. */
  inUse: boolean
  /** Whether an agent can use it: a token for metrics alone connects nobody. */
  connects: boolean
  /** The only butler that it gives access to. */
  butler: string | null
}

let current: NewToken | null = null
const listeners = new Set<() => void>()

export function showNewToken(next: NewToken | null) {
  current = next
  for (const listener of listeners) listener()
}

export function useNewToken(): NewToken | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
    () => current,
  )
}
