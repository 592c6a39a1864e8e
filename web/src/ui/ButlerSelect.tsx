import { useGet } from '../api/hooks'
import { Select } from './Select'

/** Selects a butler; hidden when there is only one. */
export function ButlerSelect({
  value,
  onChange,
}: {
  value: string | undefined
  onChange: (butler: string | undefined) => void
}) {
  const butlers = useGet('/api/butlers')
  const names = (butlers.data?.data ?? []).map((butler) => butler.name)
  if (names.length < 2 && !value) return null
  return (
    <Select
      label="Butler"
      value={value ?? ''}
      options={[['', 'All butlers'], ...names.map((name): [string, string] => [name, name])]}
      onChange={(name) => onChange(name || undefined)}
    />
  )
}
