import { useState } from 'react'
import { useHasRight } from '../../api/rights'
import type { EntityItemAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { counted } from '../../lib/number'
import { ActionMenu } from '../../lists/ActionMenu'
import { Button } from '../../ui/Button'
import { EditEntityDialog } from './EditEntityDialog'
import { ForgetDialog } from './ForgetDialog'
import { MergeDialog } from './MergeDialog'

type Action = 'edit' | 'merge' | 'forget'

/** The actions of an entity on a phone. */
export function EntityMenu({ entity }: { entity: EntityItemAt }) {
  const [open, setOpen] = useState<Action | null>(null)
  const canWrite = useHasRight('write')
  const isAdmin = useHasRight('admin')
  if (!canWrite) return null
  const actions: [action: Action, label: string][] = [
    ['edit', 'Edit'],
    ['merge', 'Merge…'],
    ...(isAdmin ? ([['forget', 'Forget everything…']] as [Action, string][]) : []),
  ]
  const done = () => setOpen(null)
  return (
    <>
      <ActionMenu
        label={entity.canonical_name}
        description={`${capitalized(entity.entity_type)}, ${counted(entity.facts, 'fact')}`}
      >
        {(close) =>
          actions.map(([action, label]) => (
            <Button
              key={action}
              variant={action === 'forget' ? 'danger' : 'secondary'}
              onClick={() => {
                close()
                setOpen(action)
              }}
            >
              {label}
            </Button>
          ))
        }
      </ActionMenu>
      {open === 'edit' && <EditEntityDialog entity={entity} onClose={done} />}
      {open === 'merge' && <MergeDialog entity={{ ...entity, duplicates: [] }} stay onClose={done} />}
      {open === 'forget' && <ForgetDialog entity={entity} onClose={done} />}
    </>
  )
}
