import type { MergePreviewAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { Badge } from '../../ui/Badge'

/** One of the two entities of a merge preview. */
export function MergeProfile({ profile, label }: { profile: MergePreviewAt['source']; label: string }) {
  const { canonical_name, entity_type, aliases, facts, facts_total } = profile
  return (
    <section aria-label={`${label}: ${canonical_name}`} className="min-w-0 rounded-md border border-line p-4">
      <p className="label">{label}</p>
      <h3 className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 font-medium break-words">
        {canonical_name} <Badge>{capitalized(entity_type)}</Badge>
      </h3>
      <p className="mt-1 text-sm break-words text-muted">
        {aliases.length > 0 ? `also known as ${aliases.join(', ')}` : 'no aliases'}
      </p>
      {facts.length > 0 && (
        <dl className="mt-3 space-y-1.5 text-sm">
          {facts.map(({ predicate, content }) => (
            <div key={`${predicate} ${content}`}>
              <dt className="text-xs text-muted">{capitalized(predicate)}</dt>
              <dd className="line-clamp-2 font-serif break-words">{content}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="mt-2 text-sm text-muted">
        {facts.length < facts_total
          ? `${counted(facts_total - facts.length, 'more fact')} not shown`
          : facts_total === 0 && 'no facts'}
      </p>
    </section>
  )
}
