import { useState } from 'react'
import type { ConflictAt } from '../../api/schema'
import { ConflictDialog } from './ConflictDialog'

export interface Distinction {
  scope?: string
  valid_from?: string
  valid_to?: string
}

interface Props {
  conflict: ConflictAt
  onKeep: (distinction: Distinction) => void
  onClose: () => void
}

const fields: [name: keyof Distinction, label: string, hint: string][] = [
  ['scope', 'Scope of B', 'the butler or topic that B belongs to'],
  ['valid_from', 'B is true from', 'a year, month, day or time'],
  ['valid_to', 'B is true until', 'a year, month, day or time'],
]

/** Asks what tells the two facts apart: where B applies, or when it is true. */
export function KeepBothDialog({ conflict, onKeep, onClose }: Props) {
  const [values, setValues] = useState<Distinction>({})
  const given = Object.fromEntries(
    Object.entries(values).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])),
  )
  return (
    <ConflictDialog
      title="Keep both"
      description="Say to which scope or time B belongs. With all fields empty, both stay as they are."
      conflict={conflict}
      submit="Keep both"
      onSubmit={() => onKeep(given)}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-3">
        {fields.map(([name, label, hint], index) => (
          <label key={name} className="min-w-0">
            <span className="label">{label}</span>
            <input
              {...(index === 0 ? { 'data-first-focus': '' } : {})}
              className="control mt-1 w-full"
              placeholder={name === 'scope' ? conflict.b.scope : ''}
              title={hint}
              autoComplete="off"
              spellCheck={false}
              value={values[name] ?? ''}
              onChange={(event) => setValues((previous) => ({ ...previous, [name]: event.target.value }))}
            />
          </label>
        ))}
      </div>
    </ConflictDialog>
  )
}
