import type { ComponentProps } from 'react'
import { permanenceDescription } from '../lib/labels'
import { Select } from '../ui/Select'
import type { FieldTexts } from './memoryFields'

interface Props {
  kind: 'fact' | 'rule'
  values: FieldTexts
  onChange: (field: keyof FieldTexts, value: string) => void
}

const permanences = Object.entries(permanenceDescription).map(([name, description]): [string, string] => [
  name,
  `${name}: ${description}`,
])

/** What a memory is about, where it applies, and how much and how long it matters. */
export function MemoryFields({ kind, values, onChange }: Props) {
  const input = (field: keyof FieldTexts, label: string, rest: ComponentProps<'input'> = {}) => (
    <label className="block min-w-0">
      <span className="label">{label}</span>
      <input
        className="control mt-1 w-full"
        value={values[field]}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(field, event.target.value)}
        {...rest}
      />
    </label>
  )
  const importance = { type: 'number', min: 0, max: 10, step: 'any', required: true }
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      {kind === 'fact' && input('subject', 'Subject', { required: true })}
      {kind === 'fact' && input('predicate', 'Predicate', { required: true })}
      {input('scope', 'Scope', { required: true })}
      <div className="min-w-0">
        <span className="label" aria-hidden="true">
          Permanence
        </span>
        <Select
          label="Permanence"
          value={values.permanence}
          options={permanences}
          onChange={(value) => onChange('permanence', value)}
          className="mt-1 w-full"
        />
      </div>
      {kind === 'fact' && input('importance', 'Importance, 0 to 10', importance)}
      {input('tags', 'Tags, separated by commas')}
    </div>
  )
}
