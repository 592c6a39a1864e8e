import { counted } from '../../lib/number'
import { Time } from '../../ui/Time'
import type { Forgotten } from './forgotten'

interface Props {
  preview: Forgotten
  kept: ReadonlySet<string>
  onKeep: (kept: ReadonlySet<string>) => void
}

interface MentionsProps extends Omit<Props, 'preview'> {
  title: string
  list: { id: string; text: string }[]
  total: number
}

/** Memories that mention the entity, each with a checkbox. A cleared checkbox keeps the memory. */
function Mentions({ title, list, total, kept, onKeep }: MentionsProps) {
  if (list.length === 0) return null
  const ids = list.map(({ id }) => id)
  const all = ids.every((id) => !kept.has(id))
  const set = (changed: string[], goes: boolean) => {
    const next = new Set(kept)
    for (const id of changed) {
      if (goes) next.delete(id)
      else next.add(id)
    }
    onKeep(next)
  }
  return (
    <fieldset>
      <legend className="text-sm font-medium">{title}</legend>
      <button type="button" className="link text-sm" onClick={() => set(ids, !all)}>
        {all ? `Keep all ${title.toLowerCase()}` : `Forget all ${title.toLowerCase()}`}
      </button>
      <ul
        className="mt-1 max-h-44 overflow-y-auto rounded-md border border-line"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus the list cannot be scrolled by keyboard
        tabIndex={0}
        aria-label={title}
      >
        {list.map(({ id, text }) => (
          <li key={id} className="border-b border-line last:border-0">
            <label className="flex cursor-pointer items-start gap-3 px-3 py-2 hover:bg-sunken">
              <input
                type="checkbox"
                className="mt-1 size-4 shrink-0 accent-accent"
                checked={!kept.has(id)}
                onChange={(event) => set([id], event.target.checked)}
              />
              <span className="line-clamp-2 min-w-0 font-serif text-sm break-words">{text}</span>
            </label>
          </li>
        ))}
      </ul>
      {total > list.length && (
        <p className="mt-1 text-sm text-muted">
          {counted(total - list.length, 'more is', 'more are')} not listed.{' '}
          {all ? 'They go, too.' : 'They stay, because you keep some of these.'}
        </p>
      )}
    </fieldset>
  )
}

/** What would go, as computed by the server without writing anything. */
export function ForgetPreview({ preview, kept, onKeep }: Props) {
  const { facts, edges, mentions, backups, erase } = preview
  const choice = { kept, onKeep }
  const { totals } = mentions
  const mentioned = totals.facts + totals.rules + totals.episodes
  return (
    <div className="space-y-4">
      <p>
        <strong className="font-medium">{counted(facts, 'fact')}</strong> about this entity and{' '}
        <strong className="font-medium">{counted(edges, 'relation')}</strong> go.{' '}
        {mentioned === 0
          ? 'Nothing else mentions it.'
          : `${counted(mentioned, 'other memory mentions', 'other memories mention')} it. Those with a tick go too:`}
      </p>
      <Mentions title="Facts that mention it" list={mentions.facts} total={totals.facts} {...choice} />
      <Mentions title="Rules that mention it" list={mentions.rules} total={totals.rules} {...choice} />
      <Mentions title="Episodes that mention it" list={mentions.episodes} total={totals.episodes} {...choice} />
      {erase && backups.length > 0 && (
        <div className="rounded-md border border-fading/40 bg-fading-wash px-3 py-2 text-sm">
          <p>
            <strong className="font-medium text-fading">{counted(backups.length, 'backup')} still</strong>{' '}
            {backups.length === 1 ? 'contains' : 'contain'} it:
          </p>
          <ul className="mt-1 space-y-0.5">
            {backups.map((backup) => (
              <li key={backup.name} className="break-words">
                <code className="font-mono text-xs">{backup.name}</code> of <Time at={backup.created_at} how="date" />
                {backup.until ? (
                  <>
                    , kept until <Time at={backup.until} how="date" />
                  </>
                ) : (
                  ', kept until you delete it'
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
