import type { EntityType } from '../../api/schema'

interface Names {
  canonical_name: string
  entity_type: EntityType
  aliases: string[]
}

/** The aliases in a text with one per line, without repetitions. */
export function aliasesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** The fields that differ, so that an edit does not overwrite what somebody else changed meanwhile. */
export function changesOf(before: Names, after: Names): Partial<Names> {
  const name = after.canonical_name.trim()
  const aliases = (list: string[]) => list.toSorted().join('\n')
  return {
    ...(name === before.canonical_name ? {} : { canonical_name: name }),
    ...(after.entity_type === before.entity_type ? {} : { entity_type: after.entity_type }),
    ...(aliases(after.aliases) === aliases(before.aliases) ? {} : { aliases: after.aliases }),
  }
}
