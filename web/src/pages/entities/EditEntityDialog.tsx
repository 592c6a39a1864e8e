import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Body, request } from '../../api/client'
import type { EntityDetailAt } from '../../api/schema'
import { capitalized } from '../../lib/labels'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'
import { Failure } from '../../ui/states'
import { failure, toast } from '../../ui/toast'
import { entityTypes, oneFrom } from '../search'
import { aliasesOf, changesOf } from './changes'

type Entity = Pick<EntityDetailAt, 'id' | 'canonical_name' | 'entity_type' | 'aliases'>
type Changes = Body<'/api/memory/entities/{id}', 'put'>

/** Edits the name, the type and the aliases of an entity. The toast offers to undo it. */
export function EditEntityDialog({ entity, onClose }: { entity: Entity; onClose: () => void }) {
  const [name, setName] = useState(entity.canonical_name)
  const [type, setType] = useState(entity.entity_type)
  const [aliases, setAliases] = useState(entity.aliases.join('\n'))
  const client = useQueryClient()
  const put = (body: Changes) => request('put', '/api/memory/entities/{id}', { path: { id: entity.id }, body })
  const undo = useMutation({
    mutationFn: put,
    onSuccess: () => {
      toast('Edit undone.')
      return client.invalidateQueries()
    },
    onError: failure('Edit not undone'),
  })
  const save = useMutation({
    mutationFn: put,
    onSuccess: async () => {
      const { canonical_name, entity_type, aliases } = entity
      toast('Saved.', {
        action: { label: 'Undo', run: () => undo.mutate({ canonical_name, entity_type, aliases }) },
      })
      onClose()
      await client.invalidateQueries()
    },
  })
  const changes = changesOf(entity, { canonical_name: name, entity_type: type, aliases: aliasesOf(aliases) })
  const unchanged = Object.keys(changes).length === 0 || name.trim() === ''
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!unchanged) save.mutate(changes)
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={`Edit ${entity.canonical_name}`}>
      <form onSubmit={submit} className="space-y-4">
        <label className="block">
          <span className="label">Name</span>
          <input className="control mt-1 w-full" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="block">
          <span className="label">Type</span>
          <select
            className="control mt-1 w-full px-2"
            value={type}
            onChange={(event) => setType(oneFrom(entityTypes, event.target.value) ?? type)}
          >
            {entityTypes.map((option) => (
              <option key={option} value={option}>
                {capitalized(option)}
              </option>
            ))}
          </select>
        </label>
        <label className="block">
          <span className="label">Aliases, one per line</span>
          <textarea
            className="control mt-1 h-28 w-full resize-y py-2"
            value={aliases}
            onChange={(event) => setAliases(event.target.value)}
          />
        </label>
        {save.isError && <Failure error={save.error} title="Not saved" />}
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
