import { useGet } from '../../api/hooks'
import { command } from '../../lib/commands'
import { CopyBlock } from '../../ui/CopyBlock'
import { Failure, Loading } from '../../ui/states'

const health: Record<string, [glyph: string, label: string, tone: string]> = {
  ready: ['●', 'Ready', 'text-accent'],
  starting: ['◌', 'Starting', 'text-muted'],
  unavailable: ['✕', 'Down', 'text-harm'],
  disabled: ['–', 'No memory module', 'text-muted'],
}

/** The health of each butler, with the problem if there is one. */
export function Server({ butler: chosen }: { butler: string | undefined }) {
  const butlers = useGet('/api/butlers')
  const server = useGet('/api/server')
  if (butlers.isPending) return <Loading rows={2} />
  if (butlers.isError) return <Failure error={butlers.error} retry={() => void butlers.refetch()} />
  const shown = butlers.data.data.filter((butler) => !chosen || butler.name === chosen)
  return (
    <div className="space-y-3">
      <ul className="card divide-y divide-line">
        {shown.map((butler) => {
          const [glyph, label, tone] = health[butler.health] ?? ['·', butler.health, 'text-muted']
          return (
            <li key={butler.name} className="grid gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[10rem_8rem_minmax(0,1fr)]">
              <span className="font-medium break-words">{butler.name}</span>
              <span className={tone}>
                <span aria-hidden="true">{glyph} </span>
                {label}
              </span>
              <span className="min-w-0 text-sm break-words text-muted">
                {butler.problem
                  ? `${butler.problem} ${butler.hint ?? ''}`
                  : [butler.description, `LLM: ${butler.runtime ?? 'none, so episodes are not consolidated'}`]
                      .filter(Boolean)
                      .join(' · ')}
              </span>
            </li>
          )
        })}
      </ul>
      {server.data && (
        <>
          <p className="text-sm text-muted">Version {server.data.data.version}. For a full check, run:</p>
          <CopyBlock label="the command of a full check" text={command('doctor', server.data.data)} />
        </>
      )}
    </div>
  )
}
