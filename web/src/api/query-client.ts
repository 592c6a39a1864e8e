import { QueryClient } from '@tanstack/react-query'
import { asApiError } from './error'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // What was refused stays refused; what did not arrive may the second time.
      retry: (failures, error) => asApiError(error).unreachable && failures < 1,
      retryDelay: 500,
    },
  },
})
