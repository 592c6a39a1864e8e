import { modifier } from '../lib/platform'
import { Dialog } from '../ui/Dialog'
import { Kbd } from '../ui/Kbd'

const keys: [keys: string[], action: string][] = [
  [[modifier, 'K'], 'search memory, run an action or go to a page'],
  [['/'], 'focus the search box'],
  [['j'], 'next row'],
  [['k'], 'previous row'],
  [['Enter'], 'open the row'],
  [['e'], 'edit the memory'],
  [['c'], 'confirm the memory, or the selected rows'],
  [['x'], 'select the row; shift-click selects a range'],
  [['t'], 'tag the selected rows'],
  [['s'], 'change the scope of the selected rows'],
  [['f'], 'forget the selected rows'],
  [['y'], 'inbox: approve, keep A, allow again'],
  [['n'], 'inbox: reject, keep both'],
  [['b'], 'inbox: keep B'],
  [['m'], 'inbox: merge the text of both'],
  [['f'], 'inbox: forget both'],
  [['u'], 'undo the last change'],
  [['Esc'], 'close the dialog'],
  [['?'], 'show this list'],
]

export function ShortcutHelp({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5">
        {keys.map(([names, action]) => (
          <div key={action} className="contents">
            <dt className="flex gap-1">
              {names.map((name) => (
                <Kbd key={name}>{name}</Kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
