import {
  capitalized,
  maturityGlyph,
  maturityLabel,
  permanenceDescription,
  permanenceGlyph,
  sourceLabel,
  statusGlyph,
  statusLabel,
} from '../lib/labels'
import { Badge, type Tone } from '../ui/Badge'

export function PermanenceBadge({ permanence }: { permanence: string }) {
  return (
    <Badge title={permanenceDescription[permanence]}>
      <span aria-hidden="true">{permanenceGlyph[permanence] ?? '·'}</span>
      {permanence}
    </Badge>
  )
}

const states: Record<string, [glyph: string, tone: Tone]> = {
  active: ['●', 'accent'],
  fading: ['◌', 'fading'],
  superseded: ['↷', 'plain'],
  expired: ['✕', 'plain'],
  retracted: ['✕', 'plain'],
  forgotten: ['✕', 'plain'],
}

/** An active memory gets no badge unless `always` is set. */
export function StateBadge({ state, always = false }: { state: string; always?: boolean }) {
  if (state === 'active' && !always) return null
  const [glyph, tone] = states[state] ?? ['·', 'plain']
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{glyph}</span>
      {state}
    </Badge>
  )
}

const maturityTone: Record<string, Tone> = { proven: 'accent', anti_pattern: 'harm' }

export function MaturityBadge({ maturity }: { maturity: string }) {
  return (
    <Badge tone={maturityTone[maturity] ?? 'plain'}>
      <span aria-hidden="true">{maturityGlyph[maturity] ?? '·'}</span>
      {maturityLabel[maturity] ?? capitalized(maturity)}
    </Badge>
  )
}

export function StatusBadge({ status }: { status: string }) {
  // only failures stand out
  const tone: Tone = status === 'failed' || status === 'dead_letter' ? 'harm' : 'plain'
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{statusGlyph[status] ?? '·'}</span>
      {statusLabel[status] ?? capitalized(status)}
    </Badge>
  )
}

export function SourceBadge({ source }: { source: string }) {
  return <Badge tone={source === 'untrusted' ? 'harm' : 'plain'}>{sourceLabel[source] ?? capitalized(source)}</Badge>
}

export function KindBadge({ kind }: { kind: string }) {
  return <Badge>{capitalized(kind)}</Badge>
}
