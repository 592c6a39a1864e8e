import type { ButlerChanges, ChangeItem } from '../../api/schema'
import { dayOf } from '../../lib/dates'
import { count, counted } from '../../lib/number'

/** The sections of what changed; what faded and what was forgotten is lost. */
export const sections = ['learned', 'changed', 'contradicted', 'lost'] as const
export type Section = (typeof sections)[number]

export interface Change extends ChangeItem {
  section: Section
  butler: string
  /** The entity or the subject. */
  name: string | null
  entity_id: string | null
}

/** All changes of all butlers, newest first. */
export function changesOf(butlers: ButlerChanges[]): Change[] {
  const all = butlers.flatMap(({ butler, learned, changed, contradicted, faded, forgotten }) =>
    Object.entries({ learned, changed, contradicted, lost: [...faded, ...forgotten] }).flatMap(([section, groups]) =>
      groups.flatMap(({ name, entity_id, changes }) =>
        changes.map((item): Change => ({ ...item, section: section as Section, butler, name, entity_id })),
      ),
    ),
  )
  return all.toSorted((a, b) => b.at.localeCompare(a.at))
}

export type Counts = Record<Section, number>

export function countsOf(changes: Change[]): Counts {
  const counts: Counts = { learned: 0, changed: 0, contradicted: 0, lost: 0 }
  for (const { section } of changes) counts[section] += 1
  return counts
}

/** The counts of each of the last seven days, oldest first. */
export function daysOf(changes: Change[], now: number): { day: string; counts: Counts }[] {
  return Array.from({ length: 7 }, (_, index) => {
    const date = new Date(now)
    date.setDate(date.getDate() - 6 + index)
    const day = dayOf(date)
    return { day, counts: countsOf(changes.filter(({ at }) => dayOf(Date.parse(at)) === day)) }
  })
}

/** Whom most of what was learned is about: at most three names. */
export function namesOf(changes: Change[]): string[] {
  const numbers = new Map<string, number>()
  for (const { section, name } of changes) {
    if (name && section === 'learned') numbers.set(name, (numbers.get(name) ?? 0) + 1)
  }
  return [...numbers]
    .toSorted(([a, most], [b, more]) => more - most || a.localeCompare(b))
    .slice(0, 3)
    .map(([name]) => name)
}

/** What each section says in the sentence of the week. */
export function phrase(section: Section, number: number): string {
  switch (section) {
    case 'learned':
      return `${counted(number, 'thing')} learned`
    case 'changed':
      return `${count(number)} changed`
    case 'contradicted':
      return `${count(number)} contradicted`
    case 'lost':
      return `${count(number)} lost`
  }
}
