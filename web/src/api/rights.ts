import { useGet } from './hooks'

export type Right = 'read' | 'write' | 'admin' | 'metrics'

/** What a person is told where a button would only be refused. */
export const missingRight: Record<Exclude<Right, 'read' | 'metrics'>, string> = {
  write: 'Your token may read, but not change anything.',
  admin: 'This needs a token with the admin right.',
}

/** Whether this visit may do it. Yes until the server has said: without tokens everybody may, and that is the usual case. */
export function useHasRight(right: Right): boolean {
  const server = useGet('/api/server')
  return server.data?.data.rights.includes(right) ?? true
}
