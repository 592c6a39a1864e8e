import { count } from '../lib/number'
import { Button } from './Button'
import { Icon } from './Icon'

interface Props {
  total: number
  limit: number
  offset: number
  onMove: (offset: number) => void
  /** What is listed, on a page with several lists: landmarks need different names. */
  of?: string
}

export function Pager({ total, limit, offset, onMove, of }: Props) {
  if (total <= limit && offset === 0) return null
  const last = Math.min(total, offset + limit)
  return (
    <nav
      aria-label={of ? `Pagination of ${of}` : 'Pagination'}
      className="mt-3 flex items-center justify-between gap-4 text-sm text-muted"
    >
      <span className="figure">
        {count(Math.min(total, offset + 1))}–{count(last)} of {count(total)}
      </span>
      <span className="flex gap-1">
        <Button
          size="small"
          variant="ghost"
          disabled={offset === 0}
          onClick={() => onMove(Math.max(0, offset - limit))}
        >
          <Icon name="previous" /> Previous
        </Button>
        <Button size="small" variant="ghost" disabled={last >= total} onClick={() => onMove(offset + limit)}>
          Next <Icon name="next" />
        </Button>
      </span>
    </nav>
  )
}
