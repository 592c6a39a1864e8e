export interface Visit {
  /** Path and query. */
  href: string
  title: string
}

/** Enough to find the way back; older pages are found by search. */
const MOST = 8
const KEY = 'butler.recent'

/** The pages visited in this tab, latest first. */
export function recentVisits(): Visit[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Visit[]
  } catch {
    return []
  }
}

export function recordVisit(title: string) {
  const href = window.location.pathname + window.location.search
  const others = recentVisits().filter((visit) => visit.href !== href && visit.title !== title)
  sessionStorage.setItem(KEY, JSON.stringify([{ href, title }, ...others].slice(0, MOST)))
}
