import type { ApiError } from '../api/error'
import type { FactDates } from './types'

export const dateFields = ['valid_from', 'valid_to', 'observed_at'] as const
export type DateField = (typeof dateFields)[number]

/** The texts of the form for the known dates. */
export function dateTexts(dates: FactDates): Record<DateField, string> {
  return {
    valid_from: dates.valid_from ?? '',
    valid_to: dates.valid_to ?? '',
    observed_at: dates.observed_at ?? '',
  }
}

/** The dates that an edit changes. The API keeps a date that is left out, and removes one that is null. */
export function changedDates(known: FactDates, texts: Record<DateField, string>): FactDates {
  const changed: FactDates = {}
  for (const field of dateFields) {
    const text = texts[field].trim()
    if (text === (known[field] ?? '')) continue
    if (text !== '') changed[field] = text
    // When the source said it can be corrected, but not be unknown.
    else if (field !== 'observed_at') changed[field] = null
  }
  return changed
}

/** The date that the API rejects: its message begins with the name of the field. */
export function rejectedField({ message }: Pick<ApiError, 'message'>): DateField | undefined {
  return dateFields.find((field) => message.startsWith(`${field}: `))
}
