import { useRef } from 'react'
import { counted } from '../../lib/number'
import { Button } from '../../ui/Button'
import { failure, toast } from '../../ui/toast'
import { type Case, parseCases } from './testSet'

/** Saves the test set as a file, and reads one. */
export function TestSetFile({ cases, onCases }: { cases: Case[]; onCases: (cases: Case[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  function save() {
    const url = URL.createObjectURL(new Blob([JSON.stringify(cases, null, 2)], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'recall-tests.json'
    link.click()
    URL.revokeObjectURL(url)
  }
  async function open(file: File) {
    try {
      const read = parseCases(await file.text())
      onCases(read)
      toast(`Opened ${counted(read.length, 'question')}.`)
    } catch (error) {
      failure('Not opened')(error)
    }
  }
  return (
    <span className="flex gap-2">
      <Button size="small" disabled={cases.length === 0} onClick={save}>
        Save as file
      </Button>
      <Button size="small" onClick={() => input.current?.click()}>
        Open file
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        aria-label="Test set file"
        className="hidden"
        onChange={(event) => {
          const file = event.target.files?.[0]
          if (file) void open(file)
          event.target.value = ''
        }}
      />
    </span>
  )
}
