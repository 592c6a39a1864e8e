import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, type Parameters, type PathOf, request } from './client'

export type GetPath = PathOf<'get'>

export function getOptions<P extends GetPath>(path: P, parameters: Omit<Parameters<P, 'get'>, 'signal' | 'body'> = {}) {
  return {
    queryKey: [path, parameters] as const,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Answer<P, 'get'>> =>
      request('get', path, { ...parameters, signal } as Parameters<P, 'get'>),
  }
}

interface Options {
  enabled?: boolean
  /** Show the previous data while the next page loads. */
  keepPrevious?: boolean
  /** Ask again after so many milliseconds, for what the event stream does not tell. */
  refetchEvery?: number
}

/** Queries an API path; the event stream keeps the data fresh. */
export function useGet<P extends GetPath>(
  path: P,
  parameters: Omit<Parameters<P, 'get'>, 'signal' | 'body'> = {},
  { enabled = true, keepPrevious = false, refetchEvery }: Options = {},
) {
  return useQuery({
    ...getOptions(path, parameters),
    enabled,
    ...(refetchEvery ? { refetchInterval: refetchEvery } : {}),
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  })
}
