import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startLive } from './api/live'
import { queryClient } from './api/query-client'
import { startTheme } from './lib/theme'
import { prefetchPages, router } from './router'
import './styles.css'

startTheme()
startLive()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
window.addEventListener('load', prefetchPages)
