import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { loadPalette, Shell } from './layout/Shell'
import { parseSearch, stringifySearch } from './lib/search'
import { ErrorPage } from './pages/ErrorPage'
import { NotFound } from './pages/NotFound'
import * as search from './pages/search'

/** Each page is a separate chunk. */
const load = {
  MemoryPage: () => import('./pages/memory/MemoryPage'),
  ChangesPage: () => import('./pages/memory/ChangesPage'),
  HealthPage: () => import('./pages/memory/HealthPage'),
  InboxPage: () => import('./pages/inbox/InboxPage'),
  FactsPage: () => import('./pages/facts/FactsPage'),
  RulesPage: () => import('./pages/rules/RulesPage'),
  SearchPage: () => import('./pages/found/SearchPage'),
  FactPage: () => import('./pages/facts/FactPage'),
  RulePage: () => import('./pages/rules/RulePage'),
  EpisodesPage: () => import('./pages/episodes/EpisodesPage'),
  EpisodePage: () => import('./pages/episodes/EpisodePage'),
  ButlerPage: () => import('./pages/butlers/ButlerPage'),
  EntitiesPage: () => import('./pages/entities/EntitiesPage'),
  EntityPage: () => import('./pages/entities/EntityPage'),
  GraphPage: () => import('./pages/graph/GraphPage'),
  TimelinePage: () => import('./pages/timeline/TimelinePage'),
  RecallPage: () => import('./pages/recall/RecallPage'),
  SessionPage: () => import('./pages/sessions/SessionPage'),
  SettingsPage: () => import('./pages/settings/SettingsPage'),
}

/** Prefetches all pages after the first one has loaded, so that they open at once even when the server is down. */
export function prefetchPages() {
  const start = () => void Promise.allSettled([...Object.values(load), loadPalette].map((page) => page()))
  if ('requestIdleCallback' in window) window.requestIdleCallback(start, { timeout: 5000 })
  else setTimeout(start, 2000)
}

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: ErrorPage })
const at = <const P extends string>(path: P) => ({ getParentRoute: () => root, path })

const home = createRoute({
  ...at('/'),
  beforeLoad: () => {
    throw redirect({ to: '/memory', replace: true })
  },
})
const memory = createRoute({
  ...at('/memory'),
  beforeLoad: ({ location }) => {
    const meant = search.formerMemory(location.search)
    if (meant) throw redirect({ ...meant, replace: true })
  },
  component: lazyRouteComponent(load.MemoryPage),
})
const changes = createRoute({
  ...at('/memory/changes'),
  validateSearch: search.changes,
  component: lazyRouteComponent(load.ChangesPage),
})
const health = createRoute({
  ...at('/memory/health'),
  validateSearch: search.health,
  component: lazyRouteComponent(load.HealthPage),
})
const facts = createRoute({
  ...at('/facts'),
  validateSearch: search.facts,
  component: lazyRouteComponent(load.FactsPage),
})
const rules = createRoute({
  ...at('/rules'),
  validateSearch: search.rules,
  component: lazyRouteComponent(load.RulesPage),
})
const found = createRoute({
  ...at('/search'),
  validateSearch: search.found,
  component: lazyRouteComponent(load.SearchPage),
})
const inbox = createRoute({ ...at('/inbox'), component: lazyRouteComponent(load.InboxPage) })
const fact = createRoute({ ...at('/memory/facts/$id'), component: lazyRouteComponent(load.FactPage) })
const rule = createRoute({ ...at('/memory/rules/$id'), component: lazyRouteComponent(load.RulePage) })
const episodes = createRoute({
  ...at('/memory/episodes'),
  validateSearch: search.episodes,
  component: lazyRouteComponent(load.EpisodesPage),
})
const episode = createRoute({
  ...at('/memory/episodes/$id'),
  component: lazyRouteComponent(load.EpisodePage),
})
const butler = createRoute({
  ...at('/butlers/$name/memory'),
  validateSearch: search.butler,
  component: lazyRouteComponent(load.ButlerPage),
})
const entities = createRoute({
  ...at('/entities'),
  validateSearch: search.entities,
  component: lazyRouteComponent(load.EntitiesPage),
})
const entity = createRoute({
  ...at('/entities/$id'),
  validateSearch: search.entity,
  component: lazyRouteComponent(load.EntityPage),
})
const graph = createRoute({
  ...at('/graph'),
  validateSearch: search.graph,
  component: lazyRouteComponent(load.GraphPage),
})
const timeline = createRoute({
  ...at('/timeline'),
  validateSearch: search.timeline,
  component: lazyRouteComponent(load.TimelinePage),
})
const recall = createRoute({
  ...at('/recall'),
  validateSearch: search.recall,
  component: lazyRouteComponent(load.RecallPage),
})
const session = createRoute({ ...at('/memory/sessions/$id'), component: lazyRouteComponent(load.SessionPage) })
const settings = createRoute({
  ...at('/settings'),
  validateSearch: search.settings,
  component: lazyRouteComponent(load.SettingsPage),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    memory,
    changes,
    health,
    facts,
    rules,
    found,
    inbox,
    fact,
    rule,
    episodes,
    episode,
    butler,
    entities,
    entity,
    graph,
    timeline,
    recall,
    session,
    settings,
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
