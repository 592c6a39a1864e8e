interface Props {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

export function DateField({ label, value, onChange }: Props) {
  return (
    <label className="flex min-w-0 flex-col gap-0.5 text-sm text-muted sm:flex-row sm:items-center sm:gap-2">
      {label}
      <input
        type="date"
        className="control w-full min-w-0 text-ink sm:w-34"
        value={value ?? ''}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </label>
  )
}
