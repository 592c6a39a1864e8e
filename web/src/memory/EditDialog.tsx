import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { request } from '../api/client'
import { asApiError } from '../api/error'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { toast } from '../ui/toast'
import { DateInputs } from './DateInputs'
import { changedDates, dateTexts, rejectedField } from './dateFields'
import type { FactDates } from './types'
import { type Kind, useRestore } from './useActions'

interface Props {
  kind: Kind
  id: string
  content: string
  /** The dates of a fact; a rule has none. */
  dates?: FactDates
  /** Navigate to the fact's new version after saving; a list stays where it is. */
  follow?: boolean
  onClose: () => void
}

const descriptions: Record<Kind, string> = {
  fact: 'Saving creates a new fact that supersedes this one. The old version is kept as history.',
  rule: 'Saving makes the rule a candidate again, because its new wording is untested.',
}

const none: FactDates = {}

/** Edits the content of a fact or a rule, and when the fact is true. */
export function EditDialog({ kind, id, content, dates: known = none, follow = false, onClose }: Props) {
  const [text, setText] = useState(content)
  const [dates, setDates] = useState(() => dateTexts(known))
  const reworded = text.trim() !== content.trim()
  const redated = changedDates(known, dates)
  const client = useQueryClient()
  const navigate = useNavigate()
  const restore = useRestore(kind)
  const save = useMutation({
    mutationFn: async () => {
      const body = reworded ? { content: text.trim() } : {}
      if (kind === 'rule') return (await request('put', '/api/memory/rules/{id}', { path: { id }, body })).data.id
      const saved = await request('put', '/api/memory/facts/{id}', { path: { id }, body: { ...body, ...redated } })
      return saved.data.id
    },
    onSuccess: async (newId) => {
      const undo = () => {
        restore.mutate(id)
        if (follow && kind === 'fact') void navigate({ to: '/memory/facts/$id', params: { id } })
      }
      toast(kind === 'fact' ? 'Saved as a new version.' : 'Saved. The rule is a candidate again.', {
        action: { label: 'Undo', run: undo },
      })
      onClose()
      await client.invalidateQueries()
      if (follow && kind === 'fact') await navigate({ to: '/memory/facts/$id', params: { id: newId } })
    },
  })
  const unchanged = text.trim() === '' || !(reworded || Object.keys(redated).length > 0)
  const error = save.isError ? asApiError(save.error) : null
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!unchanged) save.mutate()
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Edit the ${kind}`}
      description={descriptions[kind]}
      wide
    >
      <form onSubmit={submit} className="space-y-4">
        <label className="block">
          <span className="label">Content</span>
          <textarea
            className="control memory-text mt-1 h-40 w-full resize-y py-2 text-lg"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if ((event.metaKey || event.ctrlKey) && event.key === 'Enter') submit(event)
            }}
          />
        </label>
        {kind === 'fact' && (
          <DateInputs
            known={known}
            values={dates}
            error={error}
            onChange={(field, value) => setDates((previous) => ({ ...previous, [field]: value }))}
          />
        )}
        {error && !(kind === 'fact' && rejectedField(error)) && (
          <p role="alert" className="break-words text-harm">
            <span aria-hidden="true">✕ </span>
            {error.message} {error.hint}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={unchanged} busy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
