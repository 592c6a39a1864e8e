import { Fragment } from 'react'

/** An id to look up or copy: it may break between its groups, not within them. */
export function Id({ children }: { children: string }) {
  return (
    <code className="font-mono text-xs break-words">
      {children.split('-').map((part, index) => (
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
