import type { ZoomTransform } from 'd3-zoom'
import type { EntityType } from '../../api/schema'
import { groupBy } from '../../lib/group'
import type { Palette } from './palette'
import { radiusAt, type Scene, type SceneEdge, type SceneNode } from './scene'

const FONT = 'Inter, system-ui, sans-serif'
const FONT_PX = 12
const EDGE_FONT_PX = 11
/** Lines in one path. A path with thousands of lines is slow, and so are thousands of paths. */
const LINES_PER_PATH = 100
/** With more neighbours, the names of their relations would cover everything. */
const MAX_NAMED_NEIGHBOURS = 15
/** Each name claims a part of a grid with cells of this size, so that names do not overlap. */
const CELL = { width: 60, height: 18 }
/** Enough for any screen. */
const MAX_NAMES = 150

interface Pen {
  context: CanvasRenderingContext2D
  palette: Palette
  width: number
  height: number
  /** The place of a node on the screen. */
  x: (node: SceneNode) => number
  y: (node: SceneNode) => number
  radius: (node: SceneNode) => number
}

/** Draws a scene. */
export function paint(context: CanvasRenderingContext2D, scene: Scene, transform: ZoomTransform, palette: Palette) {
  const scale = window.devicePixelRatio
  const { width, height } = context.canvas
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width / scale, height / scale)
  const pen: Pen = {
    context,
    palette,
    width: width / scale,
    height: height / scale,
    x: (node) => transform.applyX(node.x),
    y: (node) => transform.applyY(node.y),
    radius: (node) => radiusAt(node, transform.k),
  }
  const { nodes, edges, focus } = scene
  if (!focus) {
    lines(pen, edges, palette.edge, 0.6)
    discs(pen, nodes)
    names(pen, nodes)
    return
  }
  lines(pen, edges, palette.dimmed, 0.6)
  discs(
    pen,
    nodes.filter((node) => !focus.nodes.has(node)),
    palette.dimmed,
  )
  const few = focus.nodes.size <= MAX_NAMED_NEIGHBOURS
  arrows(pen, focus.edges)
  if (few) for (const edge of focus.edges) edgeName(pen, edge)
  discs(pen, [...focus.nodes])
  ring(pen, focus.selected)
  names(pen, [focus.selected, ...[...focus.nodes].filter((node) => node !== focus.selected)], few)
}

function lines({ context, x, y }: Pen, edges: SceneEdge[], colour: string, width: number) {
  context.strokeStyle = colour
  context.lineWidth = width
  for (let start = 0; start < edges.length; start += LINES_PER_PATH) {
    context.beginPath()
    for (const { source, target } of edges.slice(start, start + LINES_PER_PATH)) {
      context.moveTo(x(source), y(source))
      context.lineTo(x(target), y(target))
    }
    context.stroke()
  }
}

/** The nodes in the colours of their types, or all in one colour. */
function discs({ context, palette, width, height, x, y, radius }: Pen, nodes: SceneNode[], colour?: string) {
  const visible = nodes.filter((node) => {
    const [left, top] = [x(node), y(node)]
    return left > -20 && top > -20 && left < width + 20 && top < height + 20
  })
  for (const [type, group] of groupBy(visible, (node) => (colour ? '' : node.type))) {
    context.fillStyle = colour ?? palette.types[type as EntityType]
    context.beginPath()
    for (const node of group) {
      context.moveTo(x(node) + radius(node), y(node))
      context.arc(x(node), y(node), radius(node), 0, 2 * Math.PI)
    }
    context.fill()
  }
}

function ring({ context, palette, x, y, radius }: Pen, node: SceneNode) {
  context.strokeStyle = palette.accent
  context.lineWidth = 2
  context.beginPath()
  context.arc(x(node), y(node), radius(node) + 3, 0, 2 * Math.PI)
  context.stroke()
}

function arrows({ context, palette, x, y, radius }: Pen, edges: SceneEdge[]) {
  context.strokeStyle = palette.accent
  context.fillStyle = palette.accent
  context.lineWidth = 1.5
  for (const { source, target } of edges) {
    const angle = Math.atan2(y(target) - y(source), x(target) - x(source))
    const [tipX, tipY] = [
      x(target) - (radius(target) + 2) * Math.cos(angle),
      y(target) - (radius(target) + 2) * Math.sin(angle),
    ]
    context.beginPath()
    context.moveTo(x(source), y(source))
    context.lineTo(tipX, tipY)
    context.stroke()
    context.beginPath()
    context.moveTo(tipX, tipY)
    context.lineTo(tipX - 8 * Math.cos(angle - 0.4), tipY - 8 * Math.sin(angle - 0.4))
    context.lineTo(tipX - 8 * Math.cos(angle + 0.4), tipY - 8 * Math.sin(angle + 0.4))
    context.fill()
  }
}

/** A text on an outline in the colour of the background, so that it is readable on lines. */
function text({ context, palette }: Pen, words: string, left: number, top: number, colour: string) {
  context.lineWidth = 3
  context.lineJoin = 'round'
  context.strokeStyle = palette.surface
  context.strokeText(words, left, top)
  context.fillStyle = colour
  context.fillText(words, left, top)
}

function edgeName(pen: Pen, { source, target, label }: SceneEdge) {
  const { context, palette, x, y } = pen
  context.font = `${EDGE_FONT_PX}px ${FONT}`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  text(pen, label, (x(source) + x(target)) / 2, (y(source) + y(target)) / 2, palette.muted)
}

/** Names below the nodes: the first ones first, the others where there is room. `all` draws every name. */
function names(pen: Pen, nodes: SceneNode[], all = false) {
  const { context, palette, width, height, x, y, radius } = pen
  context.font = `${FONT_PX}px ${FONT}`
  context.textAlign = 'center'
  context.textBaseline = 'top'
  const taken = new Set<string>()
  let drawn = 0
  for (const node of nodes) {
    if (drawn >= MAX_NAMES) return
    const [left, top] = [x(node), y(node) + radius(node) + 3]
    if (left < 0 || top < 0 || left > width || top > height) continue
    const half = node.name.length * FONT_PX * 0.28
    const cells: string[] = []
    for (let column = Math.floor((left - half) / CELL.width); column <= (left + half) / CELL.width; column++) {
      const row = Math.floor(top / CELL.height)
      cells.push(`${column} ${row}`, `${column} ${row + 1}`)
    }
    if (!all && cells.some((cell) => taken.has(cell))) continue
    for (const cell of cells) taken.add(cell)
    text(pen, node.name, left, top, palette.ink)
    drawn += 1
  }
}
