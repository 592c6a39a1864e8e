import { Dialog } from '../ui/Dialog'
import { Kbd } from '../ui/Kbd'

const keys: [keys: string[], does: string][] = [
  [['⌘', 'K'], 'find anything, or go to a page'],
  [['/'], 'go to the search box'],
  [['j'], 'next row'],
  [['k'], 'previous row'],
  [['Enter'], 'open the row'],
  [['e'], 'edit the memory'],
  [['c'], 'confirm the memory'],
  [['Esc'], 'close what is open'],
  [['?'], 'this list'],
]

export function ShortcutHelp({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5">
        {keys.map(([names, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1">
              {names.map((name) => (
                <Kbd key={name}>{name}</Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-sm text-muted">Where there is no ⌘ key, it is Ctrl.</p>
    </Dialog>
  )
}
