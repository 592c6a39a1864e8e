import type { EntityType } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import type { Place } from './layout'
import type { View } from './model'

export interface SceneNode extends Place {
  id: string
  name: string
  type: EntityType
  /** In pixels, seen from close. */
  radius: number
}

export interface SceneEdge {
  source: SceneNode
  target: SceneNode
  label: string
}

/** What the picture draws. */
export interface Scene {
  /** Best connected first. */
  nodes: SceneNode[]
  edges: SceneEdge[]
  /** The selected node, its neighbours and the relations between them. Without a selection there is none. */
  focus: { selected: SceneNode; nodes: Set<SceneNode>; edges: SceneEdge[] } | null
  /** The radius of the largest node. */
  largest: number
}

const radiusOf = (relations: number) => Math.min(14, 2.5 + 1.3 * Math.sqrt(relations))

/** The radius on the screen. It shrinks with the zoom, but less than distances, so that close-ups spread out. */
export function radiusAt(node: SceneNode, zoom: number): number {
  return node.radius * Math.max(0.5, Math.min(1, Math.sqrt(zoom)))
}

export function sceneOf(view: View, places: ReadonlyMap<string, Place>, selected?: string): Scene {
  const byId = new Map<string, SceneNode>()
  for (const { id, name, type } of view.nodes) {
    const radius = radiusOf(view.relations.get(id)?.length ?? 0)
    byId.set(id, { id, name, type, radius, ...(places.get(id) ?? { x: 0, y: 0 }) })
  }
  const edges = view.edges.flatMap(({ source: from, target: to, predicate }): SceneEdge[] => {
    const [source, target] = [byId.get(from), byId.get(to)]
    return source && target && source !== target
      ? [{ source, target, label: capitalized(predicate).toLowerCase() }]
      : []
  })
  const nodes = [...byId.values()]
  return {
    nodes,
    edges,
    focus: focusOf(selected ? byId.get(selected) : undefined, edges),
    largest: nodes[0]?.radius ?? 0,
  }
}

function focusOf(selected: SceneNode | undefined, all: SceneEdge[]): Scene['focus'] {
  if (!selected) return null
  const edges = all.filter(({ source, target }) => source === selected || target === selected)
  const nodes = new Set([selected, ...edges.flatMap(({ source, target }) => [source, target])])
  return { selected, nodes, edges }
}
