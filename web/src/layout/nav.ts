import type { IconName } from '../ui/Icon'

export const pages: { to: string; label: string; icon: IconName; hint: string }[] = [
  { to: '/memory', label: 'Memory', icon: 'memory', hint: 'what is known, and how sure' },
  { to: '/memory/episodes', label: 'Episodes', icon: 'episode', hint: 'what happened, by day' },
  { to: '/entities', label: 'Entities', icon: 'entity', hint: 'who and what the facts are about' },
  { to: '/timeline', label: 'Timeline', icon: 'timeline', hint: 'every change' },
  { to: '/recall', label: 'Recall lab', icon: 'recall', hint: 'why something is recalled' },
  { to: '/settings', label: 'Settings', icon: 'settings', hint: 'clients, tokens, jobs' },
]
