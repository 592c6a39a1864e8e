export interface Piece {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** A word diff of longer texts is slow and unreadable: they are shown as fully replaced. */
const MAX_WORDS = 600

/** Below this ratio of common to changed letters, the common words are coincidence ("of", "the"). */
const MIN_COMMON_SHARE = 0.25

/** The difference between two texts, by words. */
export function diffWords(before: string, after: string): Piece[] {
  const a = before.match(/\S+|\s+/g) ?? []
  const b = after.match(/\S+|\s+/g) ?? []
  const whole: Piece[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ]
  const replaced = whole.filter((piece) => piece.text !== '')
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) return replaced
  const pieces = merge(walk(a, b, commonLengths(a, b)))
  const letters = (kind: Piece['kind']) =>
    pieces.reduce((sum, piece) => sum + (piece.kind === kind ? piece.text.replace(/\s/g, '').length : 0), 0)
  return letters('same') < MIN_COMMON_SHARE * Math.max(letters('removed'), letters('added')) ? replaced : pieces
}

/** `lengths[i][j]` is the length of the longest common subsequence of `a[i..]` and `b[j..]`. */
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

/** Merges adjacent changes into one. The space between two replaced words belongs to both texts. */
function merge(pieces: Piece[]): Piece[] {
  const merged: Piece[] = []
  let [removed, added] = ['', '']
  function flush() {
    if (removed) merged.push({ kind: 'removed', text: removed })
    if (added) merged.push({ kind: 'added', text: added })
    ;[removed, added] = ['', '']
  }
  pieces.forEach((piece, index) => {
    if (piece.kind === 'removed') removed += piece.text
    else if (piece.kind === 'added') added += piece.text
    else if (
      piece.text.trim() === '' &&
      removed &&
      added &&
      pieces[index + 1]?.kind !== 'same' &&
      index + 1 < pieces.length
    ) {
      removed += piece.text
      added += piece.text
    } else {
      flush()
      const last = merged.at(-1)
      if (last?.kind === 'same') last.text += piece.text
      else merged.push({ ...piece })
    }
  })
  flush()
  return merged
}
