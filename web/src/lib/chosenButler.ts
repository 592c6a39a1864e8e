import { useSyncExternalStore } from 'react'

/** The butler that pages about one butler open with. The empty text means all butlers together. */
const KEY = 'butler.chosen'
const listeners = new Set<() => void>()

const read = () => localStorage.getItem(KEY)

export function chooseButler(name: string | undefined) {
  localStorage.setItem(KEY, name ?? '')
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The person's choice; null if there was none yet. */
export function useChosenButler(): string | null {
  return useSyncExternalStore(subscribe, read, read)
}
