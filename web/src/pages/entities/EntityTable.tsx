import { Link } from '@tanstack/react-router'
import { createColumnHelper, flexRender, tableFeatures, useTable } from '@tanstack/react-table'
import type { EntityItemAt as EntityItem } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { count } from '../../lib/number'
import { Badge } from '../../ui/Badge'
import { Time } from '../../ui/Time'
import { EntityMenu } from './EntityMenu'

/** No client-side features: the server sorts and paginates. */
const features = tableFeatures({})
const helper = createColumnHelper<typeof features, EntityItem>()

const columns = helper.columns([
  helper.accessor('canonical_name', {
    header: 'Name',
    meta: { sort: 'name' },
    cell: ({ row, getValue }) => (
      <Link
        to="/entities/$id"
        params={{ id: row.original.id }}
        className="font-medium break-words after:absolute after:inset-0"
      >
        {getValue()}
      </Link>
    ),
  }),
  helper.accessor('entity_type', { header: 'Type', cell: ({ getValue }) => <Badge>{capitalized(getValue())}</Badge> }),
  helper.accessor('aliases', {
    header: 'Also known as',
    cell: ({ getValue }) => <span className="line-clamp-1 text-sm text-muted">{getValue().join(', ') || '–'}</span>,
  }),
  helper.accessor('facts', {
    header: 'Facts',
    meta: { sort: 'facts' },
    cell: ({ getValue }) => <span className="figure">{count(getValue())}</span>,
  }),
  helper.accessor('created_at', {
    header: 'Known since',
    meta: { sort: 'newest' },
    cell: ({ getValue }) => <Time at={getValue()} how="date" />,
  }),
  helper.display({
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({ row }) => <EntityMenu entity={row.original} />,
  }),
])

interface Props {
  entities: EntityItem[]
  sort?: string
  onSort: (sort: string | undefined) => void
}

const shown: Record<string, string> = {
  aliases: 'hidden lg:table-cell',
  created_at: 'hidden md:table-cell text-right text-sm text-muted',
  facts: 'text-right',
  actions: 'w-10 py-0! pl-0! md:hidden',
}
const sortOf = (meta: unknown): string | undefined =>
  typeof meta === 'object' && meta !== null && 'sort' in meta && typeof meta.sort === 'string' ? meta.sort : undefined

export function EntityTable({ entities, sort = 'name', onSort }: Props) {
  const table = useTable({ features, columns, data: entities, getRowId: (entity) => entity.id })
  return (
    <div className="card overflow-hidden">
      <table className="w-full border-collapse text-left">
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} className="border-b border-line">
              {group.headers.map((header) => {
                const by = sortOf(header.column.columnDef.meta)
                const active = by === sort
                return (
                  <th
                    key={header.id}
                    scope="col"
                    aria-sort={active ? (by === 'name' ? 'ascending' : 'descending') : undefined}
                    className={`label px-4 py-2 font-medium ${shown[header.column.id] ?? ''}`}
                  >
                    {by ? (
                      <button
                        type="button"
                        className="hover:text-ink"
                        onClick={() => onSort(by === 'name' ? undefined : by)}
                      >
                        {flexRender(header.column.columnDef.header, header.getContext())}
                        <span aria-hidden="true">{active ? (by === 'name' ? ' ↑' : ' ↓') : ''}</span>
                      </button>
                    ) : (
                      flexRender(header.column.columnDef.header, header.getContext())
                    )}
                  </th>
                )
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} data-row="" className="relative border-b border-line last:border-0 hover:bg-sunken/60">
              {row.getAllCells().map((cell) => (
                <td key={cell.id} className={`px-4 py-2.5 ${shown[cell.column.id] ?? ''}`}>
                  {flexRender(cell.column.columnDef.cell, cell.getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
