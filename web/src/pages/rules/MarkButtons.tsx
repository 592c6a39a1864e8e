import { type FormEvent, useState } from 'react'
import { useHasRight } from '../../api/rights'
import { useMark } from '../../memory/useActions'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'

/** Marks a rule as helpful or harmful. A harmful mark weighs as much as four helpful ones, so it asks for a reason. */
export function MarkButtons({ id }: { id: string }) {
  const [dialogOpen, setDialogOpen] = useState(false)
  const [reason, setReason] = useState('')
  const helpful = useMark('helpful')
  const harmful = useMark('harmful')
  if (!useHasRight('write')) return null
  function submit(event: FormEvent) {
    event.preventDefault()
    harmful.mutate({ id, reason: reason.trim() }, { onSuccess: () => setDialogOpen(false) })
  }
  return (
    <>
      <Button busy={helpful.isPending} onClick={() => helpful.mutate({ id })}>
        <span aria-hidden="true">▲</span> Mark helpful
      </Button>
      <Button onClick={() => setDialogOpen(true)}>
        <span aria-hidden="true">▼</span> Mark harmful
      </Button>
      <Dialog
        open={dialogOpen}
        onOpenChange={setDialogOpen}
        title="Mark the rule as harmful"
        description="A harmful mark counts as much as four helpful ones. Enough of them turn the rule into a warning."
      >
        <form onSubmit={submit} className="space-y-4">
          <label className="block">
            <span className="label">What went wrong</span>
            <textarea
              data-first-focus=""
              className="control mt-1 h-24 w-full resize-y py-2"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setDialogOpen(false)}>Cancel</Button>
            <Button type="submit" variant="danger" busy={harmful.isPending}>
              Mark as harmful
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
