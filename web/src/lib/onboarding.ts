import { useSyncExternalStore } from 'react'

/**
 * Onboarding starts when a person sees an empty memory, and ends when all its steps are done or the person closes it.
 * Who opens a memory that is in use never sees it.
 */
type Stage = 'open' | 'closed'

const STAGE = 'butler.onboarding'
const LLM_TESTED = 'butler.llm-tested'
const listeners = new Set<() => void>()

/** Each tenant is a memory of its own. */
const key = (name: string, tenant: string) => `${name}.${tenant}`

function set(name: string, value: string) {
  if (localStorage.getItem(name) === value) return
  localStorage.setItem(name, value)
  for (const listener of listeners) listener()
}

export function setOnboarding(tenant: string, stage: Stage) {
  set(key(STAGE, tenant), stage)
}

/** Remembers that the LLM answered, so that the step stays done after a reload. */
export function noteLlmTested() {
  set(LLM_TESTED, 'yes')
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Null: the person has not seen this memory empty. */
export function useOnboarding(tenant: string): Stage | null {
  const read = () => localStorage.getItem(key(STAGE, tenant)) as Stage | null
  return useSyncExternalStore(subscribe, read, read)
}

export function useLlmTested(): boolean {
  const read = () => localStorage.getItem(LLM_TESTED) === 'yes'
  return useSyncExternalStore(subscribe, read, read)
}
