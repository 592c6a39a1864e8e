import type { EntityType } from '../../api/schema'

export interface GraphNode {
  id: string
  name: string
  type: EntityType
}

export interface GraphEdge {
  /** The id of the fact. */
  id: string
  source: string
  target: string
  predicate: string
  createdAt: string
}

/** All entities and relations that are loaded. */
export interface Graph {
  nodes: ReadonlyMap<string, GraphNode>
  edges: ReadonlyMap<string, GraphEdge>
}

/** An answer of the server: the whole graph or the neighbours of one entity. */
export interface Part {
  entities: { entity_id: string; canonical_name: string; entity_type: EntityType }[]
  edges: {
    fact_id: string
    source_entity_id: string
    target_entity_id: string
    predicate: string
    created_at: string
    /** Read from the other side of the fact. */
    inferred?: boolean
  }[]
}

/**
 * Joins answers. Each fact is one edge, in the direction that the fact states if any answer has it. Entities without
 * relations are left out unless they are in `keep`.
 */
export function combine(parts: readonly Part[], keep: readonly string[] = []): Graph {
  const nodes = new Map<string, GraphNode>()
  const edges = new Map<string, GraphEdge>()
  const inferred = new Set<string>()
  for (const part of parts) {
    for (const { entity_id: id, canonical_name: name, entity_type: type } of part.entities) {
      nodes.set(id, { id, name, type })
    }
    for (const edge of part.edges) {
      const id = edge.fact_id
      if (edges.has(id) && (edge.inferred || !inferred.has(id))) continue
      if (edge.inferred) inferred.add(id)
      else inferred.delete(id)
      const { source_entity_id: source, target_entity_id: target, predicate, created_at: createdAt } = edge
      edges.set(id, { id, source, target, predicate, createdAt })
    }
  }
  const connected = new Set(keep)
  for (const [id, { source, target }] of edges) {
    if (nodes.has(source) && nodes.has(target)) connected.add(source).add(target)
    else edges.delete(id)
  }
  for (const id of nodes.keys()) connected.has(id) || nodes.delete(id)
  return { nodes, edges }
}

export interface Relation {
  edge: GraphEdge
  other: GraphNode
  outgoing: boolean
}

/** What the filters leave of a graph. */
export interface View {
  /** Most relations first, then by name. */
  nodes: GraphNode[]
  edges: GraphEdge[]
  relations: ReadonlyMap<string, Relation[]>
}

export interface Filter {
  predicate?: string
  /** A date: only relations that were learned on this day or before. */
  until?: string
  /** An entity that is shown even without relations. */
  selected?: string
}

/** The last moment of a day, in local time. */
const endOf = (day: string) => Date.parse(`${day}T23:59:59.999`)

export function viewOf(graph: Graph, { predicate, until, selected }: Filter): View {
  const end = until ? endOf(until) : Number.POSITIVE_INFINITY
  const edges = [...graph.edges.values()].filter(
    (edge) => (!predicate || edge.predicate === predicate) && !(Date.parse(edge.createdAt) > end),
  )
  const relations = new Map<string, Relation[]>()
  const add = (from: string, relation: Relation) => {
    const list = relations.get(from)
    if (list) list.push(relation)
    else relations.set(from, [relation])
  }
  for (const edge of edges) {
    const [source, target] = [graph.nodes.get(edge.source), graph.nodes.get(edge.target)]
    if (!source || !target) continue
    add(source.id, { edge, other: target, outgoing: true })
    if (source !== target) add(target.id, { edge, other: source, outgoing: false })
  }
  const degree = (node: GraphNode) => relations.get(node.id)?.length ?? 0
  const nodes = [...graph.nodes.values()]
    .filter((node) => relations.has(node.id) || node.id === selected)
    .sort((a, b) => degree(b) - degree(a) || a.name.localeCompare(b.name, 'en'))
  return { nodes, edges, relations }
}
