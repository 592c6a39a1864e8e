import type { IconName } from '../ui/Icon'

export const pages: { to: string; label: string; icon: IconName; hint: string }[] = [
  { to: '/memory', label: 'Memory', icon: 'memory', hint: 'facts, rules and their confidence' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox', hint: 'proposals, conflicts and what came again' },
  { to: '/memory/episodes', label: 'Episodes', icon: 'episode', hint: 'what happened, by day' },
  { to: '/entities', label: 'Entities', icon: 'entity', hint: 'people, places and organizations' },
  { to: '/graph', label: 'Graph', icon: 'graph', hint: 'entities and how they are related' },
  { to: '/timeline', label: 'Timeline', icon: 'timeline', hint: 'every change to memory' },
  { to: '/recall', label: 'Recall lab', icon: 'recall', hint: 'what a question recalls, and why' },
  { to: '/settings', label: 'Settings', icon: 'settings', hint: 'clients, tokens, jobs' },
]
