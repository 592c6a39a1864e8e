import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** The API server for `npm run dev`. The server itself serves the built dashboard. */
const server = process.env.BUTLER_SERVER ?? 'http://127.0.0.1:8150'

/** Not all of d3: its other packages belong to the graph page. */
const charts = /src[\\/]charts[\\/]|node_modules[\\/]d3-(array|color|format|interpolate|path|scale|shape|time)/

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: process.env.BUTLER_WEB_OUT ?? '../crates/server/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // data: URLs in style sheets would require a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Few files that stay cached: shared code changes less often than the pages.
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/, priority: 3 },
            { name: 'charts', test: charts, priority: 2 },
            { name: 'shared', test: /src[\\/](memory|ui|lib|api)[\\/]/, minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: server, changeOrigin: true } } },
  test: { include: ['src/**/*.test.{ts,tsx}'] },
})
