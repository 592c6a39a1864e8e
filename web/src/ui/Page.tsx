import { type ReactNode, useEffect } from 'react'
import { cx } from '../lib/cx'
import { recordVisit } from '../lib/recent'

interface Props {
  title: string
  /** The title in the browser tab, when the heading is memory text. */
  tab?: string
  lead?: ReactNode
  actions?: ReactNode
  above?: ReactNode
  serif?: boolean
  children: ReactNode
}

/** The frame of a page: heading, lead and actions. */
export function Page({ title, tab, lead, actions, above, serif = false, children }: Props) {
  useEffect(() => {
    document.title = `${tab ?? title} · Butler Memory`
    recordVisit(tab ?? title)
  }, [tab, title])
  // a long heading takes the full width, with the actions below it
  const stacked = serif && title.length > 70
  return (
    <div className="mx-auto w-full max-w-[1240px] px-4 py-6 sm:px-6 lg:px-8 lg:py-8">
      {above}
      <header
        className={cx('mb-6 flex items-start justify-between gap-x-6 gap-y-4', stacked ? 'flex-col' : 'flex-wrap')}
      >
        <div className={stacked ? 'max-w-4xl min-w-0' : 'min-w-0 flex-1 basis-72'}>
          <h1
            className={
              serif
                ? cx('memory-text', title.length > 160 ? 'text-xl' : 'text-2xl')
                : 'text-xl font-semibold tracking-tight'
            }
          >
            {title}
          </h1>
          {lead && <div className="mt-2 text-muted">{lead}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
