import { QueryClient } from '@tanstack/react-query'
import { asApiError } from './error'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // An error response will not change; a request that got no response may succeed on the second attempt.
      retry: (failures, error) => asApiError(error).unreachable && failures < 1,
      retryDelay: 500,
    },
  },
})
