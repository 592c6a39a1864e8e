import { type Quadtree, quadtree } from 'd3-quadtree'
import { select } from 'd3-selection'
import 'd3-transition'
import { type ZoomBehavior, zoom, zoomIdentity } from 'd3-zoom'
import { layOut, type Place, spiral } from './layout'
import type { Graph, GraphEdge, View } from './model'
import { paint } from './paint'
import { type Palette, readPalette, reducedMotion } from './palette'
import { radiusAt, type Scene, type SceneNode, sceneOf } from './scene'

export interface Handlers {
  onSelect: (id: string | undefined) => void
  onOpen: (id: string) => void
  /** The pointer is over a node, or over none. */
  onHover: (id: string | undefined) => void
  onLayout: (running: boolean) => void
}

const FULL_ITERATIONS = 150
/** New nodes find their place among others that stay. */
const ADDED_ITERATIONS = 60
const ANIMATION_MS = 300
const FIT_PADDING = 40
/** Distance between nodes before the layout. */
const SPACING = 10
/** How far beside a node a click still hits it, in pixels. */
const TOLERANCE = 6
/** Close enough to read the names around a node. */
const READABLE_ZOOM = 3
const ZOOM_RANGE: [number, number] = [0.02, 20]

/** Draws a graph on a canvas and keeps its layout while the graph grows. */
export class Picture {
  private readonly canvas: HTMLCanvasElement
  private readonly handlers: Handlers
  private readonly behaviour: ZoomBehavior<HTMLCanvasElement, unknown>
  private readonly resize: ResizeObserver
  private readonly listening = new AbortController()
  private readonly places = new Map<string, Place>()
  private transform = zoomIdentity
  private palette: Palette = readPalette()
  private scene: Scene = sceneOf({ nodes: [], edges: [], relations: new Map() }, this.places)
  private tree: Quadtree<SceneNode> = quadtree()
  private selected: string | undefined
  /** The node that was clicked: it is in sight already, so the view stays. */
  private clicked: string | undefined
  /** The user has moved the view, so it no longer follows the layout. */
  private moved = false
  private frame = 0
  private stopLayout: () => void = () => undefined

  constructor(canvas: HTMLCanvasElement, handlers: Handlers) {
    this.canvas = canvas
    this.handlers = handlers
    this.behaviour = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent(ZOOM_RANGE)
      .on('zoom', ({ transform, sourceEvent }) => {
        this.transform = transform
        this.moved ||= Boolean(sourceEvent)
        this.draw()
      })
    // a double click opens the profile
    select(canvas).call(this.behaviour).on('dblclick.zoom', null)
    const { signal } = this.listening
    const listen = (type: 'click' | 'dblclick' | 'pointermove' | 'pointerleave', run: (event: MouseEvent) => void) =>
      canvas.addEventListener(type, run, { signal })
    listen('click', (event) => {
      this.clicked = this.at(event)?.id
      handlers.onSelect(this.clicked)
    })
    listen('dblclick', (event) => {
      const node = this.at(event)
      if (node) handlers.onOpen(node.id)
    })
    listen('pointermove', (event) => handlers.onHover(event.buttons ? undefined : this.at(event)?.id))
    listen('pointerleave', () => handlers.onHover(undefined))
    this.resize = new ResizeObserver(() => this.fitCanvas())
    this.resize.observe(canvas)
  }

  destroy() {
    this.stopLayout()
    this.resize.disconnect()
    cancelAnimationFrame(this.frame)
    this.listening.abort()
    select(this.canvas).on('.zoom', null)
  }

  /** Takes over the graph. Known nodes keep their place. Call `setView` afterwards. */
  setGraph({ nodes, edges }: Graph) {
    for (const id of this.places.keys()) if (!nodes.has(id)) this.places.delete(id)
    const known = new Set(this.places.keys())
    const added = [...nodes.keys()].filter((id) => !known.has(id))
    this.place(added, edges.values())
    if (added.length > 0) this.layOut(edges, added.length < nodes.size / 2 ? known : new Set())
  }

  setView(view: View, selected: string | undefined) {
    const moved = selected !== this.selected
    this.selected = selected
    this.scene = sceneOf(view, this.places, selected)
    this.update()
    if (moved && selected && selected !== this.clicked) this.centre(selected)
    this.clicked = undefined
  }

  applyTheme() {
    this.palette = readPalette()
    this.draw()
  }

  zoomBy(factor: number) {
    this.moved = true
    select(this.canvas).call(this.behaviour.scaleBy, factor)
  }

  /** Moves the view by parts of its size. */
  panBy(right: number, down: number) {
    this.moved = true
    const { clientWidth: width, clientHeight: height } = this.canvas
    const { k } = this.transform
    select(this.canvas).call(this.behaviour.translateBy, (-right * width) / k, (-down * height) / k)
  }

  fit() {
    this.moved = false
    const { nodes } = this.scene
    if (nodes.length === 0) return
    const [left, right] = [Math.min(...nodes.map(({ x }) => x)), Math.max(...nodes.map(({ x }) => x))]
    const [top, bottom] = [Math.min(...nodes.map(({ y }) => y)), Math.max(...nodes.map(({ y }) => y))]
    const { clientWidth: width, clientHeight: height } = this.canvas
    const scale = Math.min(
      (width - 2 * FIT_PADDING) / Math.max(1, right - left),
      (height - 2 * FIT_PADDING) / Math.max(1, bottom - top),
      READABLE_ZOOM,
    )
    this.look((left + right) / 2, (top + bottom) / 2, Math.max(scale, ZOOM_RANGE[0]))
  }

  /** Puts a node in the middle, with its neighbours around it. */
  private centre(id: string) {
    const place = this.places.get(id)
    if (!place) return
    const neighbours = [...(this.scene.focus?.nodes ?? [])]
    const distance = Math.max(1, ...neighbours.map(({ x, y }) => Math.hypot(x - place.x, y - place.y)))
    const { clientWidth: width, clientHeight: height } = this.canvas
    const scale = (Math.min(width, height) / 2 - FIT_PADDING) / distance
    this.look(place.x, place.y, Math.min(scale, READABLE_ZOOM), !reducedMotion())
  }

  /** Puts a point of the graph in the middle of the view. */
  private look(x: number, y: number, scale: number, animate = false) {
    const { clientWidth: width, clientHeight: height } = this.canvas
    const transform = zoomIdentity
      .translate(width / 2, height / 2)
      .scale(scale)
      .translate(-x, -y)
    const canvas = select(this.canvas)
    if (animate) canvas.transition().duration(ANIMATION_MS).call(this.behaviour.transform, transform)
    else canvas.call(this.behaviour.transform, transform)
  }

  private at({ offsetX, offsetY }: MouseEvent): SceneNode | undefined {
    const [x, y] = this.transform.invert([offsetX, offsetY])
    const near = this.tree.find(x, y, (this.scene.largest + TOLERANCE) / this.transform.k)
    if (!near) return undefined
    const distance = Math.hypot(near.x - x, near.y - y) * this.transform.k
    return distance <= radiusAt(near, this.transform.k) + TOLERANCE ? near : undefined
  }

  /** The canvas has as many pixels as the screen, so that text is sharp. */
  private fitCanvas() {
    const { canvas } = this
    const scale = window.devicePixelRatio
    canvas.width = canvas.clientWidth * scale
    canvas.height = canvas.clientHeight * scale
    if (!this.moved && !this.selected) this.fit()
    this.draw()
  }

  /** Takes over new places. */
  private update() {
    for (const node of this.scene.nodes) Object.assign(node, this.places.get(node.id))
    this.tree = quadtree(
      this.scene.nodes,
      ({ x }) => x,
      ({ y }) => y,
    )
    this.draw()
  }

  /** Draws before the next frame, once for any number of changes. */
  private draw() {
    cancelAnimationFrame(this.frame)
    this.frame = requestAnimationFrame(() => {
      const context = this.canvas.getContext('2d')
      if (context) paint(context, this.scene, this.transform, this.palette)
    })
  }

  /** Gives new nodes a place: beside a neighbour that has one, otherwise on a spiral. */
  private place(added: string[], edges: Iterable<GraphEdge>) {
    const beside = new Map<string, Place>()
    for (const { source, target } of edges) {
      const [from, to] = [this.places.get(source), this.places.get(target)]
      if (from && !to) beside.set(target, from)
      if (to && !from) beside.set(source, to)
    }
    for (const [index, id] of added.entries()) {
      const neighbour = beside.get(id)
      this.places.set(id, neighbour ? spiral(index, SPACING / 2, neighbour) : spiral(index, SPACING))
    }
  }

  /** Runs the layout in a worker. Nodes in `fixed` stay where they are. */
  private layOut(edges: Graph['edges'], fixed: ReadonlySet<string>) {
    this.stopLayout()
    const ids = [...this.places.keys()]
    const numbers = new Map(ids.map((id, number) => [id, number]))
    const whole = fixed.size === 0
    this.handlers.onLayout(true)
    this.stopLayout = layOut(
      {
        places: [...this.places.values()],
        fixed: ids.map((id) => fixed.has(id)),
        edges: [...edges.values()].map(({ source, target }) => [numbers.get(source) ?? 0, numbers.get(target) ?? 0]),
        iterations: whole ? FULL_ITERATIONS : ADDED_ITERATIONS,
        animate: !reducedMotion(),
      },
      ({ places, last }) => {
        for (const [number, id] of ids.entries()) {
          const place = places[number]
          if (place && this.places.has(id)) this.places.set(id, place)
        }
        this.update()
        if (this.selected && last) this.centre(this.selected)
        else if (whole && !this.moved && !this.selected) this.fit()
        if (last) this.handlers.onLayout(false)
      },
    )
  }
}
