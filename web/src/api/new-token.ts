import { useSyncExternalStore } from 'react'

/** A token that was just made. Kept outside the pages: the first one signs every page out, and it is shown only once. */
export interface NewToken {
  token: string
  name: string
  /** This tab had none and uses it from now on. */
  inUse: boolean
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
