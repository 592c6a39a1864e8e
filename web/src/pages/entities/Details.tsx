import type { EntityDetailAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { Id } from '../../ui/Id'
import { Properties } from '../../ui/Properties'
import { Time } from '../../ui/Time'

type Props = Pick<EntityDetailAt, 'id' | 'home' | 'created_at' | 'updated_at' | 'metadata'>

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Where and since when the entity is known, and its metadata. */
export function Details({ entity }: { entity: Props }) {
  const metadata = Object.entries(entity.metadata)
  return (
    <div className="space-y-2">
      <Properties
        rows={[
          ['Butler', entity.home],
          ['Known since', <Time key="created" at={entity.created_at} how="date" />],
          ['Changed', <Time key="updated" at={entity.updated_at} />],
          ['Id', <Id key="id">{entity.id}</Id>],
        ]}
      />
      {metadata.length > 0 && (
        <Properties rows={metadata.map(([name, value]) => [capitalized(name), valueText(value)])} />
      )}
    </div>
  )
}
