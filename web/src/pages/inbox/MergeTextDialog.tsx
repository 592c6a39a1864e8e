import { useState } from 'react'
import type { ConflictAt } from '../../api/schema'
import { ConflictDialog } from './ConflictDialog'

interface Props {
  conflict: ConflictAt
  onMerge: (content: string) => void
  onClose: () => void
}

/** Asks for one text that says what both facts say. */
export function MergeTextDialog({ conflict, onMerge, onClose }: Props) {
  const [text, setText] = useState(conflict.a.content)
  const content = text.trim()
  return (
    <ConflictDialog
      title="Merge the text"
      description="The text becomes a new version of A, and B is forgotten."
      conflict={conflict}
      submit="Merge"
      disabled={content === ''}
      onSubmit={() => onMerge(content)}
      onClose={onClose}
    >
      <label className="block">
        <span className="label">Merged text</span>
        <textarea
          data-first-focus=""
          className="control memory-text mt-1 h-32 w-full resize-y py-2 text-lg"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if ((event.metaKey || event.ctrlKey) && event.key === 'Enter') event.currentTarget.form?.requestSubmit()
          }}
        />
      </label>
    </ConflictDialog>
  )
}
