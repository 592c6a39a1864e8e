import { Bars } from '../../charts/Bars'
import { countBelow, Histogram } from '../../charts/Histogram'
import { Line } from '../../charts/Line'
import { maturityGlyph, maturityLabel } from '../../lib/labels'
import { count, counted, percent } from '../../lib/number'

const levelName = (maturity: string) => `${maturityGlyph[maturity]} ${maturityLabel[maturity]}`

const marks = (helpful: number, harmful: number) =>
  `marked helpful ${counted(helpful, 'time')}, harmful ${counted(harmful, 'time')}`

interface Props {
  confidence: number[]
  thresholds: { retrieval: number; expiry: number }
  backlog: { day: string; waiting: number }[]
  /** Why the last consolidation failed. */
  failure?: string | null
  maturity: { candidate: number; established: number; proven: number; anti_pattern: number }
  effectiveness: { bins: number[]; never_applied: number; mean?: number | null; helpful: number; harmful: number }
}

function Panel({ title, note, children }: { title: string; note: string; children: React.ReactNode }) {
  return (
    <div className="card min-w-0 p-4">
      <h3 className="font-medium">{title}</h3>
      <p className="mb-4 text-sm text-muted">{note}</p>
      {children}
    </div>
  )
}

/** Four charts about the state of the memory, each with a summary in words. */
export function Health({ confidence, thresholds, backlog, failure, maturity, effectiveness }: Props) {
  const step = 1 / confidence.length
  const bins = confidence.map((value, index) => ({ from: index * step, to: (index + 1) * step, count: value }))
  const below = countBelow(bins, thresholds.retrieval)
  const marked = effectiveness.bins.reduce((sum, value) => sum + value, 0)
  const points = backlog.map((day) => ({ at: Date.parse(day.day), value: day.waiting }))
  const waiting = backlog.at(-1)?.waiting ?? 0
  const size = effectiveness.bins.length
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Panel
        title="Confidence"
        note={
          below > 0
            ? `${counted(below, 'memory', 'memories')} below the retrieval threshold`
            : 'No memory is below the retrieval threshold'
        }
      >
        <Histogram bins={bins} thresholds={thresholds} />
      </Panel>
      <Panel
        title="Backlog"
        note={
          failure
            ? `The last consolidation failed: ${failure}`
            : waiting > 0
              ? `${counted(waiting, 'episode')} waiting for consolidation`
              : 'No episodes waiting for consolidation'
        }
      >
        {points.length > 1 ? (
          <Line
            points={points}
            height={168}
            label={`Episodes waiting for consolidation over ${points.length} days; ${count(waiting)} now`}
          />
        ) : (
          <p className="text-muted">The chart needs at least two days of history.</p>
        )}
      </Panel>
      <Panel title="Maturity" note="Rules by maturity; warnings are rules that proved harmful">
        <Bars
          bars={[
            { name: levelName('candidate'), value: maturity.candidate, tone: 'plain' },
            { name: levelName('established'), value: maturity.established },
            { name: levelName('proven'), value: maturity.proven },
            { name: levelName('anti_pattern'), value: maturity.anti_pattern, tone: 'harm' },
          ]}
        />
      </Panel>
      <Panel
        title="Rule effectiveness"
        note={
          marked > 0 && effectiveness.mean != null
            ? `${percent(effectiveness.mean)} on average; ${marks(effectiveness.helpful, effectiveness.harmful)}`
            : 'No rule has been marked yet'
        }
      >
        <Bars
          bars={[
            ...[4, 3, 2, 1, 0].map((fifth) => ({
              name: `${fifth * 20}–${fifth * 20 + 20}%`,
              value: effectiveness.bins
                .slice((fifth * size) / 5, ((fifth + 1) * size) / 5)
                .reduce((sum, value) => sum + value, 0),
              tone: fifth < 2 ? ('harm' as const) : ('accent' as const),
            })),
            { name: 'not applied', value: effectiveness.never_applied, tone: 'plain' as const },
          ]}
        />
      </Panel>
    </div>
  )
}
