import { useGet } from '../../api/hooks'
import { useHasRight } from '../../api/rights'
import type { TokenItem } from '../../api/schema'
import { Select } from '../../ui/Select'

function describe({ name, rights, butler, tenant }: TokenItem): string {
  const where = [rights.join(', '), tenant && `tenant ${tenant}`, butler && `butler ${butler}`].filter(Boolean)
  return `As ${name || 'an unnamed token'}: ${where.join(', ')}`
}

interface Props {
  value: string | undefined
  /** The token, and the butler that it is limited to. */
  onChange: (token: string | undefined, butler: string | undefined) => void
}

/** Selects the token whose holder asks: its tenant, butler and rights decide what is recalled. */
export function AsToken({ value, onChange }: Props) {
  const isAdmin = useHasRight('admin')
  const tokens = useGet('/api/tokens', {}, { enabled: isAdmin })
  const active = (tokens.data?.data ?? []).filter(({ state }) => state === 'active')
  if (active.length === 0 && !value) return null
  const options = active.map((token): [string, string] => [token.id, describe(token)])
  if (value && !active.some(({ id }) => id === value)) options.push([value, 'As a token that is not active'])
  return (
    <Select
      label="Who asks"
      value={value ?? ''}
      options={[['', 'As myself'], ...options]}
      onChange={(id) => onChange(id || undefined, active.find((token) => token.id === id)?.butler ?? undefined)}
      className="max-w-64 min-w-0"
    />
  )
}
