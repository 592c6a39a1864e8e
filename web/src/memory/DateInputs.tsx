import { useId } from 'react'
import type { ApiError } from '../api/error'
import { briefDate } from '../lib/dates'
import { type DateField, dateFields, rejectedField } from './dateFields'
import type { FactDates } from './types'

const labels: Record<DateField, string> = {
  valid_from: 'Valid from',
  valid_to: 'Valid until',
  observed_at: 'Observed',
}

const hints: Record<DateField, string> = {
  valid_from: 'Since when it is true',
  valid_to: 'From when on it is no longer true',
  observed_at: 'When the source said it',
}

interface Props {
  /** The dates before the edit. */
  known: FactDates
  values: Record<DateField, string>
  error: ApiError | null
  onChange: (field: DateField, value: string) => void
}

/** When a fact is true. An error of the API is shown beside its field. */
export function DateInputs({ known, values, error, onChange }: Props) {
  const id = useId()
  const rejected = error && rejectedField(error)
  return (
    <fieldset>
      <legend className="sr-only">Dates</legend>
      <div className="grid gap-3 sm:grid-cols-3">
        {dateFields.map((field) => {
          const before = known[field]
          const cleared = before && values[field].trim() === ''
          const problem = rejected === field ? error : null
          return (
            <div key={field} className="min-w-0">
              <label className="label" htmlFor={`${id}${field}`}>
                {labels[field]}
              </label>
              <input
                id={`${id}${field}`}
                className="control mt-1 w-full"
                value={values[field]}
                autoComplete="off"
                spellCheck={false}
                aria-invalid={problem !== null}
                aria-describedby={`${id}${field}-hint ${id}formats`}
                onChange={(event) => onChange(field, event.target.value)}
              />
              <p
                id={`${id}${field}-hint`}
                role={problem ? 'alert' : undefined}
                className={problem ? 'mt-1 text-sm break-words text-harm' : 'mt-1 text-sm break-words text-muted'}
              >
                {problem ? (
                  <>
                    <span aria-hidden="true">✕ </span>
                    {[problem.message, problem.hint].filter(Boolean).join('; ')}
                  </>
                ) : cleared ? (
                  field === 'observed_at' ? (
                    `Stays ${briefDate(before)}: it can be changed, but not removed.`
                  ) : (
                    'Unknown from now on.'
                  )
                ) : (
                  hints[field]
                )}
              </p>
            </div>
          )
        })}
      </div>
      <p id={`${id}formats`} className="mt-2 text-sm text-muted">
        A year, month, day or time: 2023, 2023-03, 2023-03-05 or 2023-03-05T14:30.
      </p>
    </fieldset>
  )
}
