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
const named = (value: number, words: string) =>
  value === 1
    ? words.replace(/^(facts|rules|episodes)\b/, (kind) => kind.slice(0, -1)).replace(/\bkeys\b/, 'key')
    : words

/** The outcome of a run: its error, or its first three counts. */
export function outcome(run: Run): string {
  if (run.error) return run.error
  if (run.status === 'running') return 'running since'
  const numbers = Object.entries(typeof run.result === 'object' && run.result !== null ? run.result : {})
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0)
    .slice(0, 3)
    .map(([name, value]) => `${value.toLocaleString('en')} ${named(value, name.replaceAll('_', ' '))}`)
  return numbers.length > 0 ? `${numbers.join(', ')};` : 'nothing to do;'
}
