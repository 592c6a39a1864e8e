import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failure, Loading } from './states'

interface Props<T> {
  query: UseQueryResult<T>
  label: string
  children: (data: T) => ReactNode
}

/** A detail page's content once it has loaded; until then a loading or an error state. */
export function Loaded<T>({ query, label, children }: Props<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  return (
    <div className="mx-auto w-full max-w-[1240px] px-4 py-8 sm:px-6 lg:px-8">
      <h1 className="sr-only">{label}</h1>
      {query.isError ? (
        <Failure error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Loading rows={6} label={`Loading ${label}`} />
      )}
    </div>
  )
}
