import { useEffect } from 'react'
import { toast } from '../ui/toast'

/** Takes the place of the palette when it cannot be loaded. */
export function PaletteMissing({ onClose }: { onClose: () => void }) {
  useEffect(() => {
    toast('The search did not load, because the server is not responding.', { tone: 'failed' })
    onClose()
  }, [onClose])
  return null
}
