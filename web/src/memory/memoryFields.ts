/** What an edit can change besides the content and the dates. A rule has no subject, predicate and importance. */
export interface FieldValues {
  subject?: string
  predicate?: string
  scope: string
  permanence: string
  importance?: number
  tags: string[]
}

/** The same as texts of the form. */
export type FieldTexts = Record<keyof FieldValues, string>

export function fieldTexts(memory: FieldValues): FieldTexts {
  return {
    subject: memory.subject ?? '',
    predicate: memory.predicate ?? '',
    scope: memory.scope,
    permanence: memory.permanence,
    importance: memory.importance === undefined ? '' : String(memory.importance),
    tags: memory.tags.join(', '),
  }
}

function tagList(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter(Boolean))]
}

/** The fields that an edit changes, as the API takes them. */
export function changedFields(known: FieldValues, texts: FieldTexts): Partial<FieldValues> {
  const changed: Partial<FieldValues> = {}
  for (const field of ['subject', 'predicate', 'scope', 'permanence'] as const) {
    const text = texts[field].trim()
    if (text !== '' && text !== known[field]) changed[field] = text
  }
  const importance = Number(texts.importance)
  if (texts.importance.trim() !== '' && importance !== known.importance) changed.importance = importance
  const tags = tagList(texts.tags)
  if (tags.join() !== known.tags.join()) changed.tags = tags
  return changed
}
