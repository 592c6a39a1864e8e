import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { diffWords } from '../lib/diff'
import { Time } from '../ui/Time'
import { StateBadge } from './badges'

export interface Version {
  id: string
  content: string
  validity: string
  source_butler?: string | null
  created_at: string
}

function Difference({ before, after }: { before: string; after: string }) {
  const pieces = diffWords(before, after)
  return (
    <p className="memory-text text-lg">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no identity and never move
        <Fragment key={index}>
          {piece.kind === 'same' && piece.text}
          {piece.kind === 'added' && pieces[index - 1]?.kind === 'removed' && ' '}
          {piece.kind === 'added' && (
            <ins className="bg-accent-wash decoration-accent decoration-1 underline-offset-2">{piece.text}</ins>
          )}
          {piece.kind === 'removed' && <del className="bg-harm-wash text-harm decoration-harm">{piece.text}</del>}
        </Fragment>
      ))}
    </p>
  )
}

/** The supersession chain, newest first, each version as a diff against the one it supersedes. */
export function Versions({ versions, current }: { versions: Version[]; current: string }) {
  const newest = [...versions].reverse()
  return (
    <ol className="space-y-4 border-l border-line pl-4">
      {newest.map((version, index) => {
        const before = newest[index + 1]
        return (
          <li key={version.id} className="relative">
            <span
              aria-hidden="true"
              className="absolute top-1.5 -left-[1.3rem] size-2 rounded-full border border-line-strong bg-surface"
            />
            <div className="mb-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
              <Time at={version.created_at} how="full" />
              <StateBadge state={version.validity} always />
              {version.source_butler && <span>by {version.source_butler}</span>}
              {version.id === current ? (
                <span>this version</span>
              ) : (
                <Link to="/memory/facts/$id" params={{ id: version.id }} className="link">
                  open
                </Link>
              )}
            </div>
            {before ? (
              <Difference before={before.content} after={version.content} />
            ) : (
              <p className="memory-text text-lg">{version.content}</p>
            )}
          </li>
        )
      })}
    </ol>
  )
}
