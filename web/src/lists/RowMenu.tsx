import { useState } from 'react'
import { useHasRight } from '../api/rights'
import { EditDialog } from '../memory/EditDialog'
import type { FactDates } from '../memory/types'
import { type Kind, useConfirm, useForget } from '../memory/useActions'
import { Button } from '../ui/Button'
import { ActionMenu } from './ActionMenu'

interface Props {
  kind: Kind
  id: string
  label: string
  content: string
  dates?: FactDates
  /** Why the confidence is what it is. */
  why?: string
  /** False if the row has only the beginning of the text. */
  complete?: boolean
}

/** The actions of a fact or a rule on a phone. */
export function RowMenu({ kind, id, label, content, dates, why, complete = true }: Props) {
  const [editing, setEditing] = useState(false)
  const canWrite = useHasRight('write')
  const confirm = useConfirm(kind)
  const forget = useForget(kind)
  if (!canWrite) return null
  return (
    <>
      <ActionMenu
        label={label}
        description={
          <>
            {content}
            {why && <span className="mt-1 block text-sm">{why}</span>}
          </>
        }
      >
        {(close) => (
          <>
            <Button
              onClick={() => {
                close()
                confirm.mutate(id)
              }}
            >
              Confirm
            </Button>
            {complete && (
              <Button
                onClick={() => {
                  close()
                  setEditing(true)
                }}
              >
                Edit
              </Button>
            )}
            <Button
              variant="danger"
              onClick={() => {
                close()
                forget.mutate(id)
              }}
            >
              Forget
            </Button>
          </>
        )}
      </ActionMenu>
      {editing && <EditDialog kind={kind} id={id} content={content} dates={dates} onClose={() => setEditing(false)} />}
    </>
  )
}
