import type { IconName } from '../ui/Icon'

interface NavPage {
  to: string
  label: string
  icon: IconName
  hint: string
}

export const pages: NavPage[] = [
  { to: '/memory', label: 'Overview', icon: 'overview', hint: 'this week, what needs attention, what agents read' },
  { to: '/facts', label: 'Facts', icon: 'memory', hint: 'what is known, and how sure it is' },
  { to: '/rules', label: 'Rules', icon: 'rule', hint: 'what to do, and how well it worked' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox', hint: 'proposals, conflicts and what came again' },
  { to: '/memory/episodes', label: 'Episodes', icon: 'episode', hint: 'what happened, by day' },
  { to: '/entities', label: 'Entities', icon: 'entity', hint: 'people, places and organizations' },
  { to: '/graph', label: 'Graph', icon: 'graph', hint: 'entities and how they are related' },
  { to: '/timeline', label: 'Timeline', icon: 'timeline', hint: 'every change to memory' },
  { to: '/recall', label: 'Recall lab', icon: 'recall', hint: 'what a question recalls, and why' },
  { to: '/settings', label: 'Settings', icon: 'settings', hint: 'clients, tokens, jobs' },
]
