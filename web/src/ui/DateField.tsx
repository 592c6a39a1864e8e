interface Props {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

export function DateField({ label, value, onChange }: Props) {
  return (
    <label className="inline-flex items-center gap-2 text-sm text-muted">
      {label}
      <input type="date" className="control w-34 text-ink" value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)} />
    </label>
  )
}
