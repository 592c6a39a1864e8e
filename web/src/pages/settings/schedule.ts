import { suppressedReasons } from '../../memory/suppressed'

interface Run {
  status: string
  error?: string | null
  result?: unknown
}

/** Describes common cron expressions in words; returns any other unchanged. */
export function describeSchedule(cron: string): string {
  const [minute, hour, ...rest] = cron.trim().split(/\s+/)
  if (rest.join(' ') !== '* * *' || minute === undefined || hour === undefined) return cron
  const every = /^\*\/(\d+)$/.exec(hour)
  if (every && minute === '0') return `every ${every[1]} hours`
  if (/^\d+$/.test(hour) && /^\d+$/.test(minute)) return `daily at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (hour === '*' && /^\d+$/.test(minute)) return `every hour at :${minute.padStart(2, '0')}`
  const minutes = /^\*\/(\d+)$/.exec(minute)
  if (minutes && hour === '*') return `every ${minutes[1]} minutes`
  return cron
}

/** The server names counts in the plural: `facts expired`, `idempotency keys removed`. */
const named = (value: number, name: string) =>
  value === 1
    ? name
        .replace(/^(facts|rules|episodes|actions)\b/, (kind) => kind.slice(0, -1))
        .replace(/^memories\b/, 'memory')
        .replace(/^(episode) wait\b/, '$1 waits')
        .replace(/\bkeys\b/, 'key')
    : name

/** The counts of a consolidation that matter most, in this order. */
const learned = [
  'facts_created',
  'facts_superseded',
  'rules_created',
  'confirmations',
  'dead_lettered',
  'failed',
  'refused',
  'suppressed',
  'consolidated',
  'episodes',
  'waiting',
]

const words: Record<string, string> = {
  confirmations: 'memories confirmed',
  dead_lettered: 'episodes dead-lettered',
  failed: 'episodes failed',
  refused: 'actions refused',
  suppressed: 'actions left out',
  consolidated: 'episodes consolidated',
  episodes: 'episodes counted',
  waiting: 'episodes wait for a retry',
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** The outcome of a run: its error, or its first three counts. */
export function outcome(run: Run): string {
  if (run.error) return run.error
  if (run.status === 'running') return 'running since'
  const result = record(run.result)
  const totals = record(result.totals)
  const entries: [string, unknown][] =
    result.totals === undefined ? Object.entries(result) : learned.map((name) => [name, totals[name]])
  const numbers = entries
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0)
    .slice(0, 3)
    .map(([name, value]) => {
      const label = `${value.toLocaleString('en')} ${named(value, words[name] ?? name.replaceAll('_', ' '))}`
      const why = name === 'suppressed' ? suppressedReasons(record(totals.suppressed_by)) : ''
      return why ? `${label} (${why})` : label
    })
  const why = result.mode === 'dry_run' && typeof result.reason === 'string' ? ` (${result.reason})` : ''
  return numbers.length > 0 ? `${numbers.join(', ')}${why};` : 'nothing to do;'
}
