import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '../api/hooks'
import { cx } from '../lib/cx'
import { count } from '../lib/number'
import { Icon } from '../ui/Icon'
import { here, item } from './navStyles'

/** More butlers than this get a filter. */
const MANY = 8
/** The sidebar shows at most this many; the filter finds the others. */
const MOST = 40

/** The butlers in the sidebar. */
export function ButlerLinks({ onFollow }: { onFollow?: () => void }) {
  const butlers = useGet('/api/butlers')
  const [text, setText] = useState('')
  const all = butlers.data?.data ?? []
  const found = all.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  if (all.length === 0) return null
  return (
    <>
      <p className="label mt-6 mb-1 px-2.5">Butlers{all.length > MANY && ` (${count(all.length)})`}</p>
      {all.length > MANY && (
        <label className="mb-1 block px-1">
          <span className="sr-only">Filter butlers</span>
          <input
            type="search"
            className="control h-8! w-full px-2 text-sm!"
            placeholder="Filter butlers"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
      {found.slice(0, MOST).map((butler) => (
        <Link
          key={butler.name}
          to="/butlers/$name/memory"
          params={{ name: butler.name }}
          activeOptions={{ includeSearch: false }}
          className={cx(item, 'min-w-0')}
          activeProps={{ className: here }}
          onClick={onFollow}
        >
          <Icon name="butler" />
          <span className="min-w-0 flex-1 truncate">{butler.name}</span>
          {butler.health === 'unavailable' && <span className="text-xs text-harm">✕ down</span>}
          {butler.health === 'starting' && <span className="text-xs text-muted">◌ starting</span>}
          {butler.health === 'disabled' && <span className="text-xs text-muted">no memory</span>}
        </Link>
      ))}
      {found.length > MOST && (
        <p className="px-2.5 py-1 text-xs text-muted">{count(found.length - MOST)} more: type to filter</p>
      )}
      {found.length === 0 && <p className="px-2.5 py-1 text-xs text-muted">No butler with that name.</p>}
    </>
  )
}
