import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** Where `npm run dev` finds the API; the built dashboard is served by the server itself. */
const server = process.env.BUTLER_SERVER ?? 'http://127.0.0.1:8150'

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: process.env.BUTLER_WEB_OUT ?? '../crates/butler/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL in a style sheet would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Few files with lasting names: what pages share changes less often than the pages.
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/, priority: 3 },
            { name: 'charts', test: /src[\\/]charts[\\/]|node_modules[\\/]d3-/, priority: 2 },
            { name: 'shared', test: /src[\\/](memory|ui|lib|api)[\\/]/, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: server, changeOrigin: true } } },
  test: { include: ['src/**/*.test.{ts,tsx}'] },
})
