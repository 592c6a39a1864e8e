import { useSyncExternalStore } from 'react'

const wide = () => window.matchMedia('(min-width: 48rem)')

function subscribe(listener: () => void) {
  const query = wide()
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Whether the screen is as narrow as a phone's. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => !wide().matches,
    () => false,
  )
}
