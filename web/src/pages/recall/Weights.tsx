import type { Weights } from './HitTable'

export const parts = ['relevance', 'importance', 'recency', 'confidence'] as const

export const weightsText = (weights: Weights) => parts.map((part) => weights[part]).join(',')

interface Props {
  name: string
  value: Weights
  onChange: (weights: Weights) => void
}

/** The four weights of the score. Only their proportions matter. */
export function WeightInputs({ name, value, onChange }: Props) {
  return (
    <fieldset className="grid grid-cols-2 gap-2 sm:grid-cols-4">
      <legend className="mb-1 font-medium">Weights {name}</legend>
      {parts.map((part) => (
        <label key={part} className="min-w-0">
          <span className="label capitalize">{part}</span>
          <input
            type="number"
            min={0}
            max={10}
            step={0.05}
            className="control mt-1 w-full"
            value={value[part]}
            onChange={(event) => {
              const number = Number(event.target.value)
              if (Number.isFinite(number) && number >= 0) onChange({ ...value, [part]: number })
            }}
          />
        </label>
      ))}
    </fieldset>
  )
}
