import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { missingRight, useHasRight } from '../../api/rights'
import type { EntityDetailAt } from '../../api/schema'
import type { TimeSearch } from '../../lib/search'
import { Button, buttonClass } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { EditEntityDialog } from './EditEntityDialog'
import { ForgetDialog } from './ForgetDialog'
import { useUnmerge } from './useUnmerge'

interface Props {
  entity: EntityDetailAt
  /** The time that the page shows; nothing can be changed in another one than now. */
  time: TimeSearch
  onMerge: () => void
}

/** Edit, merge and forget an entity; undo the merge of one that was merged away. */
export function EntityActions({ entity, time, onMerge }: Props) {
  const [open, setOpen] = useState<'edit' | 'forget' | null>(null)
  const canWrite = useHasRight('write')
  const isAdmin = useHasRight('admin')
  const unmerge = useUnmerge()
  const now = time.valid_at === undefined
  const close = () => setOpen(null)
  if (entity.merged_into)
    return canWrite ? (
      <Button busy={unmerge.isPending} onClick={() => unmerge.mutate(entity.id)}>
        <Icon name="undo" /> Undo merge
      </Button>
    ) : (
      <p className="text-sm text-muted">{missingRight.write}</p>
    )
  return (
    <>
      <Link to="/graph" search={{ entity: entity.id, butler: entity.home, ...time }} className={buttonClass()}>
        <Icon name="graph" /> Show in graph
      </Link>
      {canWrite && now && (
        <>
          <Button data-page-key="e" onClick={() => setOpen('edit')}>
            <Icon name="edit" /> Edit
          </Button>
          <Button onClick={onMerge}>
            <Icon name="merge" /> Merge
          </Button>
        </>
      )}
      {isAdmin && now && (
        <Button variant="danger" onClick={() => setOpen('forget')}>
          <Icon name="forget" /> Forget everything
        </Button>
      )}
      {open === 'edit' && <EditEntityDialog entity={entity} onClose={close} />}
      {open === 'forget' && <ForgetDialog entity={entity} onClose={close} />}
    </>
  )
}
