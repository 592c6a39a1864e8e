import { Fragment } from 'react'

/** An id; it wraps only between its groups. */
export function Id({ children }: { children: string }) {
  return (
    <code className="font-mono text-xs break-words">
      {children.split('-').map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the groups of an id never move
        <Fragment key={index}>
          {index > 0 && (
            <>
              -<wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </code>
  )
}
