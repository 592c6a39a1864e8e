import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Shell } from './layout/Shell'
import { parseSearch, stringifySearch } from './lib/search'
import { NotFound } from './pages/NotFound'
import { Broken } from './pages/Broken'
import * as search from './pages/search'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken })
const at = <const P extends string>(path: P) => ({ getParentRoute: () => root, path })

const home = createRoute({
  ...at('/'),
  beforeLoad: () => {
    throw redirect({ to: '/memory', replace: true })
  },
})
const memory = createRoute({
  ...at('/memory'),
  validateSearch: search.memory,
  component: lazyRouteComponent(() => import('./pages/memory/MemoryPage')),
})
const fact = createRoute({ ...at('/memory/facts/$id'), component: lazyRouteComponent(() => import('./pages/facts/FactPage')) })
const rule = createRoute({ ...at('/memory/rules/$id'), component: lazyRouteComponent(() => import('./pages/rules/RulePage')) })
const episodes = createRoute({
  ...at('/memory/episodes'),
  validateSearch: search.episodes,
  component: lazyRouteComponent(() => import('./pages/episodes/EpisodesPage')),
})
const episode = createRoute({
  ...at('/memory/episodes/$id'),
  component: lazyRouteComponent(() => import('./pages/episodes/EpisodePage')),
})
const butler = createRoute({
  ...at('/butlers/$name/memory'),
  validateSearch: search.butler,
  component: lazyRouteComponent(() => import('./pages/butlers/ButlerPage')),
})
const entities = createRoute({
  ...at('/entities'),
  validateSearch: search.entities,
  component: lazyRouteComponent(() => import('./pages/entities/EntitiesPage')),
})
const entity = createRoute({ ...at('/entities/$id'), component: lazyRouteComponent(() => import('./pages/entities/EntityPage')) })
const timeline = createRoute({
  ...at('/timeline'),
  validateSearch: search.timeline,
  component: lazyRouteComponent(() => import('./pages/timeline/TimelinePage')),
})
const recall = createRoute({
  ...at('/recall'),
  validateSearch: search.recall,
  component: lazyRouteComponent(() => import('./pages/recall/RecallPage')),
})
const settings = createRoute({ ...at('/settings'), component: lazyRouteComponent(() => import('./pages/settings/SettingsPage')) })

export const routes = [home, memory, fact, rule, episodes, episode, butler, entities, entity, timeline, recall, settings]

export const router = createRouter({
  routeTree: root.addChildren([home, memory, fact, rule, episodes, episode, butler, entities, entity, timeline, recall, settings]),
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
