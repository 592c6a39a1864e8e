export interface Piece {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** Beyond this a difference by words is slow and unreadable: the whole text is shown as replaced. */
const MOST_WORDS = 600

/** What changed from one text to the next, by words. */
export function diffWords(before: string, after: string): Piece[] {
  const a = before.match(/\S+|\s+/g) ?? []
  const b = after.match(/\S+|\s+/g) ?? []
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ]
  }
  return merge(walk(a, b, commonLengths(a, b)))
}

/** lengths[i][j]: the longest common run of words of a from i on and b from j on. */
function commonLengths(a: string[], b: string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as number[]
      const below = lengths[i + 1] as number[]
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return lengths
}

function walk(a: string[], b: string[], lengths: number[][]): Piece[] {
  const pieces: Piece[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push({ kind: 'same', text: a[i] as string })
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      pieces.push({ kind: 'removed', text: a[i] as string })
      i += 1
    } else {
      pieces.push({ kind: 'added', text: b[j] as string })
      j += 1
    }
  }
  return pieces
}

function merge(pieces: Piece[]): Piece[] {
  return pieces.reduce<Piece[]>((merged, piece) => {
    const last = merged.at(-1)
    if (last?.kind === piece.kind) last.text += piece.text
    else merged.push({ ...piece })
    return merged
  }, [])
}
