import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Body, request } from '../api/client'
import { asApiError } from '../api/error'
import { useGet } from '../api/hooks'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { toast } from '../ui/toast'
import { DateInputs } from './DateInputs'
import { changedDates, dateTexts, rejectedField } from './dateFields'
import { MemoryFields } from './MemoryFields'
import { changedFields, type FieldTexts, type FieldValues, fieldTexts } from './memoryFields'
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

type EditBody = Body<'/api/memory/rules/{id}', 'put'>

const descriptions: Record<Kind, string> = {
  fact: 'Saving creates a new fact that supersedes this one. The old version is kept as history.',
  rule: 'Saving makes the rule a candidate again, because its new wording is untested.',
}

const none: FactDates = {}

/** The fields of the memory as they are stored now; a list does not have all of them. */
function useFields(kind: Kind, id: string): FieldValues | undefined {
  const fact = useGet('/api/memory/facts/{id}', { path: { id } }, { enabled: kind === 'fact' })
  const rule = useGet('/api/memory/rules/{id}', { path: { id } }, { enabled: kind === 'rule' })
  return kind === 'fact' ? fact.data?.data : rule.data?.data
}

/** Edits a fact or a rule: its content, when the fact is true, what it is about, and how long it lasts. */
export function EditDialog({ kind, id, content, dates: known = none, follow = false, onClose }: Props) {
  const [text, setText] = useState(content)
  const [dates, setDates] = useState(() => dateTexts(known))
  const reworded = text.trim() !== content.trim()
  const redated = changedDates(known, dates)
  const fields = useFields(kind, id)
  const [edited, setEdited] = useState<Partial<FieldTexts>>({})
  const texts = fields && { ...fieldTexts(fields), ...edited }
  const changed = fields && texts ? changedFields(fields, texts) : {}
  const client = useQueryClient()
  const navigate = useNavigate()
  const restore = useRestore(kind)
  const save = useMutation({
    mutationFn: async () => {
      const body = { ...(reworded ? { content: text.trim() } : {}), ...changed } as EditBody
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
  const unchanged = text.trim() === '' || !(reworded || Object.keys({ ...redated, ...changed }).length > 0)
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
      wide="full"
    >
      <form onSubmit={submit} className="space-y-4">
        <label className="block">
          <span className="label">Content</span>
          <textarea
            data-first-focus=""
            className="control memory-text mt-1 h-28 w-full resize-y py-2 text-lg"
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
        {texts && (
          <MemoryFields
            kind={kind}
            values={texts}
            onChange={(field, value) => setEdited((previous) => ({ ...previous, [field]: value }))}
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
