import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { cx } from '../../lib/cx'
import { capitalized } from '../../lib/labels'
import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import type { Graph, View } from './model'
import { onThemeChange } from './palette'
import { Picture } from './picture'

interface Props {
  graph: Graph
  view: View
  selected?: string
  onSelect: (id: string | undefined) => void
  onOpen: (id: string) => void
}

/** Part of the view that one key press moves. */
const STEP = 0.15
const ZOOM = 1.4

const keys = new Map<string, (picture: Picture) => void>([
  ['ArrowLeft', (picture) => picture.panBy(-STEP, 0)],
  ['ArrowRight', (picture) => picture.panBy(STEP, 0)],
  ['ArrowUp', (picture) => picture.panBy(0, -STEP)],
  ['ArrowDown', (picture) => picture.panBy(0, STEP)],
  ['+', (picture) => picture.zoomBy(ZOOM)],
  ['-', (picture) => picture.zoomBy(1 / ZOOM)],
  ['0', (picture) => picture.fit()],
])

/** The drawn graph. A separate chunk, because only this page needs its libraries. */
export default function GraphCanvas(props: Props) {
  const { graph, view, selected } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const picture = useRef<Picture>(null)
  const latest = useRef(props)
  const [busy, setBusy] = useState(true)
  const [hovered, setHovered] = useState<string>()
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (!canvas.current) return
    const drawn = new Picture(canvas.current, {
      onSelect: (id) => latest.current.onSelect(id),
      onOpen: (id) => latest.current.onOpen(id),
      onHover: setHovered,
      onLayout: setBusy,
    })
    picture.current = drawn
    const stop = onThemeChange(() => drawn.applyTheme())
    return () => {
      stop()
      drawn.destroy()
      picture.current = null
    }
  }, [])
  useEffect(() => picture.current?.setGraph(graph), [graph])
  useEffect(() => picture.current?.setView(view, selected), [view, selected])
  const onKeyDown = (event: KeyboardEvent) => {
    const move = keys.get(event.key)
    if (!move || !picture.current || event.metaKey || event.ctrlKey || event.altKey) return
    event.preventDefault()
    move(picture.current)
  }
  const under = hovered && graph.nodes.get(hovered)
  return (
    <div className="relative h-full">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a canvas has no role of its own */}
      <canvas
        ref={canvas}
        role="application"
        tabIndex={0}
        aria-label="Graph. Arrow keys move it, plus and minus zoom, 0 fits it. The list has the same entities."
        aria-busy={busy}
        className={cx('block h-full w-full touch-none rounded-lg', hovered ? 'cursor-pointer' : 'cursor-grab')}
        onKeyDown={onKeyDown}
      />
      <p
        aria-hidden="true"
        className="pointer-events-none absolute bottom-3 left-3 max-w-[70%] rounded-md bg-surface/90 px-2 text-sm"
      >
        {under ? `${under.name} · ${capitalized(under.type)}` : busy && 'Arranging the graph…'}
      </p>
      <div className="absolute right-3 bottom-3 flex flex-col gap-1">
        <Button size="small" aria-label="Zoom in" onClick={() => picture.current?.zoomBy(ZOOM)}>
          <Icon name="plus" />
        </Button>
        <Button size="small" aria-label="Zoom out" onClick={() => picture.current?.zoomBy(1 / ZOOM)}>
          <Icon name="minus" />
        </Button>
        <Button size="small" aria-label="Fit the graph" onClick={() => picture.current?.fit()}>
          <Icon name="fit" />
        </Button>
      </div>
    </div>
  )
}
