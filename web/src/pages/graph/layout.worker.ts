// Computes node positions in a worker, so that the page stays responsive. The worker of the library itself is made
// from a blob, which the content security policy forbids.
import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import type { LayoutAnswer, LayoutRequest } from './layout'

/** Iterations until the first report. Each further report takes twice as long, because the picture changes less. */
const FIRST_REPORT = 10
/** From so many nodes on, the approximation is faster. */
const APPROXIMATE_FROM = 300
/** Faster than the library's own settings, for the same result: 2,000 nodes settle within 100 iterations. */
const FAST = { slowDown: 2, barnesHutTheta: 1.2 }

function build({ places, fixed, edges }: LayoutRequest): Graph {
  const graph = new Graph({ type: 'undirected' })
  for (const [node, place] of places.entries()) graph.addNode(node, { ...place, fixed: fixed[node] })
  // several relations between the same two entities attract no more than one
  for (const [source, target] of edges) graph.mergeEdge(source, target)
  return graph
}

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const graph = build(data)
  const barnesHutOptimize = graph.order >= APPROXIMATE_FROM
  const settings = { ...forceAtlas2.inferSettings(graph), ...FAST, barnesHutOptimize }
  let done = 0
  while (done < data.iterations) {
    const step = data.animate ? Math.max(FIRST_REPORT, done) : data.iterations
    const iterations = Math.min(step, data.iterations - done)
    forceAtlas2.assign(graph, { iterations, settings })
    done += iterations
    const answer: LayoutAnswer = {
      places: graph.mapNodes((_, { x, y }) => ({ x, y })),
      last: done >= data.iterations,
    }
    self.postMessage(answer)
  }
}
