import type { ReactNode } from 'react'
import { useWidth } from './useWidth'

interface Props {
  /** The text alternative: what the chart shows, in one sentence. */
  label: string
  height: number
  children: (width: number) => ReactNode
}

export function Frame({ label, height, children }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>()
  return (
    <div ref={ref} className="w-full">
      <svg
        role="img"
        aria-label={label}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        className="block overflow-visible"
      >
        {children(width)}
      </svg>
    </div>
  )
}
