import { useSyncExternalStore } from 'react'
import { asApiError } from '../api/error'

export interface Toast {
  id: number
  text: string
  tone: 'done' | 'failed'
  action?: { label: string; run: () => void }
}

/** Long enough to read the message. */
export const VISIBLE_MS = 6000
/** How long an action can be undone, unless another action replaces it before. */
export const UNDO_MS = 30_000

let toasts: Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function publish(next: Toast[]) {
  toasts = next
  for (const listener of listeners) listener()
}

export function dismiss(id: number) {
  publish(toasts.filter((toast) => toast.id !== id))
}

export function toast(text: string, options: Partial<Pick<Toast, 'tone' | 'action'>> = {}): number {
  last += 1
  const id = last
  const kept = options.action ? toasts.filter((toast) => !toast.action) : toasts
  publish([...kept.slice(-2), { id, text, tone: 'done', ...options }])
  const visible = options.tone === 'failed' ? 2 * VISIBLE_MS : VISIBLE_MS
  setTimeout(() => dismiss(id), options.action ? UNDO_MS : visible)
  return id
}

/** An `onError` handler that shows what failed, why, and the hint. */
export function failure(what: string) {
  return (error: unknown) => {
    const { message, hint } = asApiError(error)
    toast(`${what}: ${message}${hint ? ` (${hint})` : ''}`, { tone: 'failed' })
  }
}

export function useToasts(): Toast[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
    () => toasts,
  )
}
