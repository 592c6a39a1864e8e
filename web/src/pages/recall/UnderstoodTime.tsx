import type { Understood } from '../../api/schema'
import { windowText } from './window'

/** The time that the words of the question ask about, and the words that were not used. */
export function UnderstoodTime({ time }: { time: Understood }) {
  const { window, ignored } = time
  if (!window && ignored.length === 0) return null
  return (
    <ul aria-label="Words of time" className="mb-4 space-y-1 text-sm text-muted">
      {window && (
        <li>
          Understood “{window.phrase}” as <span className="figure font-medium text-ink">{windowText(window)}</span>.
          Memories of that time score higher.
        </li>
      )}
      {ignored.map(({ phrase, reason }) => (
        <li key={phrase}>
          Ignored “{phrase}”: {reason}.
        </li>
      ))}
    </ul>
  )
}
