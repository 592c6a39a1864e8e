export interface Place {
  x: number
  y: number
}

export interface LayoutRequest {
  places: Place[]
  /** The nodes that stay where they are. */
  fixed: boolean[]
  /** Pairs of node numbers. */
  edges: number[][]
  iterations: number
  /** Report on the way, not just the result. */
  animate: boolean
}

export interface LayoutAnswer {
  places: Place[]
  last: boolean
}

/** Computes a layout in a worker. Returns a function that stops it. */
export function layOut(request: LayoutRequest, onAnswer: (answer: LayoutAnswer) => void): () => void {
  const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
    if (data.last) worker.terminate()
    onAnswer(data)
  }
  worker.postMessage(request)
  return () => worker.terminate()
}

/** The angle that spreads any number of points evenly. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5))

/** The place of the nth node before the layout: a spiral around a centre, the same on every visit. */
export function spiral(index: number, spacing: number, centre: Place = { x: 0, y: 0 }): Place {
  const radius = spacing * Math.sqrt(index + 1)
  const angle = index * GOLDEN_ANGLE
  return { x: centre.x + radius * Math.cos(angle), y: centre.y + radius * Math.sin(angle) }
}
