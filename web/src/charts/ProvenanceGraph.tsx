import { linkHorizontal } from 'd3-shape'
import { cx } from '../lib/cx'
import { isOutgoing, type LinkRow, labelOf, relationLabel } from '../memory/links'
import { MemoryLink } from '../memory/MemoryLink'
import { useWidth } from './useWidth'

interface Props {
  kind: string
  label: string
  links: LinkRow[]
}

const NODE_HEIGHT = 44
const GAP = 12
/** The graph becomes unreadable with more links on one side; the list view shows all of them. */
const MAX_PER_SIDE = 6

function Node({
  x,
  y,
  width,
  kind,
  text,
  centre,
}: {
  x: number
  y: number
  width: number
  kind: string
  text: string
  centre?: boolean
}) {
  return (
    <foreignObject x={x} y={y} width={width} height={NODE_HEIGHT}>
      <div
        className={cx(
          'flex h-full flex-col justify-center rounded-md border px-2.5',
          centre ? 'border-accent bg-accent-wash' : 'border-line bg-surface',
        )}
      >
        <span className="text-2xs text-muted">{kind}</span>
        <span className="truncate font-serif text-sm">{text}</span>
      </div>
    </foreignObject>
  )
}

/** Sources on the left, this memory in the middle, results on the right. */
export function ProvenanceGraph({ kind, label, links }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>(640)
  const outgoing = links.filter(isOutgoing)
  const incoming = links.filter((link) => !isOutgoing(link))
  const narrow = width < 560
  const [left, right] = [outgoing.slice(0, MAX_PER_SIDE), incoming.slice(0, MAX_PER_SIDE)]
  const columns = [left, right].filter((side) => side.length > 0).length + 1
  const nodeWidth = narrow ? Math.min(width, 280) : Math.min(260, (width - (columns - 1) * 110) / columns)
  const tallest = Math.max(1, left.length, right.length)
  const height = narrow ? (left.length + right.length + 1) * (NODE_HEIGHT + 26) : tallest * (NODE_HEIGHT + GAP)
  const curve = linkHorizontal<{ source: [number, number]; target: [number, number] }, [number, number]>()
  const rowY = (index: number, of: number) =>
    height / 2 + (index - (of - 1) / 2) * (NODE_HEIGHT + GAP) - NODE_HEIGHT / 2
  const leftX = 0
  const centreX = left.length > 0 ? nodeWidth + (width - columns * nodeWidth) / (columns - 1) : 0
  const rightX = width - nodeWidth
  const hidden = outgoing.length - left.length + (incoming.length - right.length)
  if (narrow) {
    const all = [...left.map((link) => ({ link })), { link: null }, ...right.map((link) => ({ link }))]
    return (
      <div ref={ref}>
        <ol className="space-y-1">
          {all.map(({ link }) =>
            link ? (
              <li key={link.id} className="pl-4">
                <span className="text-xs text-muted">{relationLabel(link)}</span>
                <div className="truncate rounded-md border border-line px-2.5 py-1.5 font-serif text-sm">
                  {link.label ? (
                    <MemoryLink kind={link.memory_type} id={link.id} className="hover:underline">
                      {link.label}
                    </MemoryLink>
                  ) : (
                    <em>{labelOf(link)}</em>
                  )}
                </div>
              </li>
            ) : (
              <li
                key="centre"
                className="truncate rounded-md border border-accent bg-accent-wash px-2.5 py-1.5 font-serif text-sm"
              >
                {label}
              </li>
            ),
          )}
        </ol>
        {hidden > 0 && <p className="mt-2 text-sm text-muted">{hidden} more in the list view</p>}
      </div>
    )
  }
  const side = (list: LinkRow[], x: number, from: number, to: number) =>
    list.map((link, index) => {
      const y = rowY(index, list.length)
      const middle: [number, number] = [(from + to) / 2, (y + NODE_HEIGHT / 2 + height / 2) / 2]
      return (
        <g key={`${link.relation}${link.id}`}>
          <path
            d={curve({ source: [from, y + NODE_HEIGHT / 2], target: [to, height / 2] }) ?? ''}
            fill="none"
            strokeDasharray={link.label ? undefined : '3 3'}
            className="stroke-line-strong"
          />
          <text
            x={middle[0]}
            y={middle[1] - 5}
            textAnchor="middle"
            className="fill-muted stroke-surface text-2xs [paint-order:stroke]"
            strokeWidth="4"
          >
            {relationLabel(link)}
          </text>
          {link.label ? (
            <MemoryLink kind={link.memory_type} id={link.id} className="hover:[&_div]:border-line-strong">
              <Node x={x} y={y} width={nodeWidth} kind={link.memory_type} text={link.label} />
            </MemoryLink>
          ) : (
            <Node x={x} y={y} width={nodeWidth} kind={link.memory_type} text={labelOf(link)} />
          )}
        </g>
      )
    })
  return (
    <div ref={ref} className="w-full">
      {/* biome-ignore lint/a11y/useSemanticElements: an SVG is no fieldset, and role="img" would hide its links */}
      <svg
        width={width}
        height={height}
        role="group"
        aria-label={`Provenance: ${outgoing.length} sources, ${incoming.length} results`}
        className="block"
      >
        {side(left, leftX, leftX + nodeWidth, centreX)}
        {side(right, rightX, rightX, centreX + nodeWidth)}
        <Node x={centreX} y={height / 2 - NODE_HEIGHT / 2} width={nodeWidth} kind={kind} text={label} centre />
      </svg>
      {hidden > 0 && <p className="mt-2 text-sm text-muted">{hidden} more in the list view</p>}
    </div>
  )
}
