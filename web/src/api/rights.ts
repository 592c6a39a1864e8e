import { useGet } from './hooks'

export type Right = 'read' | 'write' | 'admin' | 'metrics'

/** Shown in place of an action that the server would reject. */
export const missingRight: Record<Exclude<Right, 'read' | 'metrics'>, string> = {
  write: 'Your token is read-only.',
  admin: 'This requires a token with the admin right.',
}

/** Whether this tab has a right. True until the server answers, because without tokens everybody has every right. */
export function useHasRight(right: Right): boolean {
  const server = useGet('/api/server')
  return server.data?.data.rights.includes(right) ?? true
}
