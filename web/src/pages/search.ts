import { fraction, oneOf, text, time, whole } from '../lib/search'

/** The state that each page keeps in its URL. Missing and invalid values are the default. */
type Raw = Record<string, unknown>
const optional = <T extends object>(value: T): Partial<T> => value

export const states = ['active', 'fading', 'superseded', 'expired', 'retracted', 'all'] as const
export const ruleStates = ['fading', 'forgotten', 'all'] as const
export const factSorts = ['best', 'newest', 'most_confident', 'least_confident', 'importance', 'subject'] as const
export const ruleSorts = ['best', 'newest', 'maturity', 'most_effective', 'least_effective', 'most_applied'] as const
export const permanences = ['permanent', 'stable', 'standard', 'volatile', 'ephemeral'] as const
export const maturities = ['candidate', 'established', 'proven', 'anti_pattern'] as const
export const statuses = ['pending', 'consolidated', 'failed', 'dead_letter'] as const
export const entityTypes = ['person', 'organization', 'place', 'other'] as const
export const entitySorts = ['facts', 'newest'] as const
export const eventKinds = ['fact', 'rule', 'episode', 'entity'] as const

export const facts = (raw: Raw) =>
  optional({
    q: text(raw, 'q'),
    butler: text(raw, 'butler'),
    scope: text(raw, 'scope'),
    validity: oneOf(raw, 'validity', states),
    permanence: oneOf(raw, 'permanence', permanences),
    min: fraction(raw, 'min'),
    tag: text(raw, 'tag'),
    sort: text(raw, 'sort'),
  })

export const rules = (raw: Raw) =>
  optional({
    q: text(raw, 'q'),
    butler: text(raw, 'butler'),
    scope: text(raw, 'scope'),
    state: oneOf(raw, 'state', ruleStates),
    maturity: oneOf(raw, 'maturity', maturities),
    tag: text(raw, 'tag'),
    sort: text(raw, 'sort'),
  })

export const changes = (raw: Raw) =>
  optional({
    section: oneOf(raw, 'section', ['learned', 'changed', 'contradicted', 'lost'] as const),
    butler: text(raw, 'butler'),
  })

export const health = (raw: Raw) => optional({ butler: text(raw, 'butler') })

export const found = (raw: Raw) =>
  optional({ q: text(raw, 'q'), kind: oneOf(raw, 'kind', eventKinds), butler: text(raw, 'butler') })

/** The former page of all lists: its links lead to the list that they meant. */
export function formerMemory(raw: Raw): { to: string; search: Raw } | undefined {
  const { kind, offset: _, ...search } = raw
  if (Object.keys(raw).length === 0) return undefined
  const to = kind === 'rules' ? '/rules' : kind === 'episodes' ? '/memory/episodes' : '/facts'
  return { to, search }
}

export const episodes = (raw: Raw) =>
  optional({
    q: text(raw, 'q'),
    butler: text(raw, 'butler'),
    status: oneOf(raw, 'status', statuses),
    from: text(raw, 'from'),
    to: text(raw, 'to'),
    offset: whole(raw, 'offset'),
  })

export const butler = (raw: Raw) =>
  optional({
    q: text(raw, 'q'),
    offset: whole(raw, 'offset'),
  })

export const entities = (raw: Raw) =>
  optional({
    q: text(raw, 'q'),
    butler: text(raw, 'butler'),
    type: oneOf(raw, 'type', entityTypes),
    sort: oneOf(raw, 'sort', entitySorts),
    offset: whole(raw, 'offset'),
  })

export const entity = (raw: Raw) => optional(time(raw))

export const graph = (raw: Raw) =>
  optional({
    ...time(raw),
    entity: text(raw, 'entity'),
    butler: text(raw, 'butler'),
    predicate: text(raw, 'predicate'),
    until: text(raw, 'until'),
  })

export const timeline = (raw: Raw) =>
  optional({
    kind: oneOf(raw, 'kind', eventKinds),
    event: text(raw, 'event'),
    butler: text(raw, 'butler'),
    from: text(raw, 'from'),
    to: text(raw, 'to'),
    offset: whole(raw, 'offset'),
  })

export const settingsTabs = ['connections', 'jobs', 'access', 'data', 'health'] as const

export const settings = (raw: Raw) =>
  optional({
    tab: oneOf(raw, 'tab', settingsTabs),
    butler: text(raw, 'butler'),
  })

export const recallTabs = ['ask', 'compare'] as const

export const recall = (raw: Raw) =>
  optional({
    tab: oneOf(raw, 'tab', recallTabs),
    scope: text(raw, 'scope'),
    why: text(raw, 'why'),
    valid_at: text(raw, 'valid_at'),
    as_of: text(raw, 'as_of'),
    as_token: text(raw, 'as_token'),
    q: text(raw, 'q'),
    butler: text(raw, 'butler'),
  })

export const oneFrom = <T extends string>(allowed: readonly T[], value: string): T | undefined =>
  allowed.find((name) => name === value)
