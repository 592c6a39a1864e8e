import { Link } from '@tanstack/react-router'
import { useGet } from '../../api/hooks'
import { maturityGlyph, maturityLabel } from '../../lib/labels'
import { percent } from '../../lib/number'
import { Empty, Failure, Loading } from '../../ui/states'

const order = ['proven', 'established', 'candidate', 'anti_pattern'] as const
const SIZE = 40

/** A butler's rules, most mature first, warnings last. */
export function Playbook({ name }: { name: string }) {
  const rules = useGet('/api/butlers/{name}/memory/rules', { path: { name }, query: { sort: 'maturity', limit: SIZE } })
  if (rules.isPending) return <Loading />
  if (rules.isError) return <Failure error={rules.error} />
  const { data, meta } = rules.data
  if (data.length === 0)
    return <Empty title="No rules yet">Agents store rules, and consolidation learns them from episodes.</Empty>
  return (
    <div className="card divide-y divide-line">
      {order.map((maturity) => {
        const list = data.filter((rule) => rule.maturity === maturity)
        if (list.length === 0) return null
        return (
          <section key={maturity} aria-label={maturityLabel[maturity]} className="p-4">
            <h3 className={maturity === 'anti_pattern' ? 'label text-harm' : 'label'}>
              <span aria-hidden="true">{maturityGlyph[maturity]} </span>
              {maturityLabel[maturity]}
            </h3>
            <ul className="mt-2 space-y-2">
              {list.map((rule) => (
                <li key={rule.id} data-row="" className="flex items-baseline gap-3">
                  <Link
                    to="/memory/rules/$id"
                    params={{ id: rule.id }}
                    className="line-clamp-2 min-w-0 flex-1 font-serif break-words hover:underline"
                  >
                    {rule.content}
                  </Link>
                  <span className="figure text-sm whitespace-nowrap text-muted">
                    {rule.applied_count > 0 ? percent(rule.effectiveness_score) : 'not applied'}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
      {meta.total > data.length && (
        <p className="p-4 text-sm">
          <Link to="/rules" search={{ butler: name }} className="link">
            Show all rules of {name}
          </Link>
        </p>
      )}
    </div>
  )
}
