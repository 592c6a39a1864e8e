/** Line icons on a 16-pixel grid, drawn for this dashboard. */
const shapes = {
  memory: 'M3 4.500h10M3 8h10M3 11.500h6',
  overview: 'M2.500 13.500v-5M6 13.500v-9M9.500 13.500v-6M13 13.500v-11',
  rule: 'M3 3.500h10v9H3zM5.500 7l1.500 1.500L10.500 5M5.500 11h5',
  inbox: 'M2.500 9h3l1 2h3l1-2h3M2.500 9v4h11V9l-2-5.500h-7L2.500 9Z',
  episode: 'M8 4.500V8l2.500 1.500M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  entity: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Zm-5 5.500c.400-2.600 2.400-4 5-4s4.600 1.400 5 4',
  graph:
    'M4 13.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM12 13a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3Z' +
    'M8 5.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM7.300 5.300L4.700 10.700M8.800 5.300l2.500 4.900M5.500 12h5',
  timeline: 'M4 2.500v11M4 4.500h2.500M4 8h2.500M4 11.500h2.500M9 4.500h4.500M9 8h3M9 11.500h4.500',
  recall: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.600-1.400L14 14',
  settings: 'M2.500 5h6M11.500 5h2M2.500 11h2M7.500 11h6M10 3.500v3M6 9.500v3',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.500l3.500 3.500L13 4.500',
  edit: 'M3 13l.600-2.800L10.500 3.300l2.200 2.200-6.900 6.900L3 13Z',
  forget: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.600 8.500h5.800l.600-8.500',
  sun:
    'M8 10.800a2.800 2.800 0 1 0 0-5.600 2.800 2.800 0 0 0 0 5.600ZM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500' +
    'M3.400 3.400l1.100 1.100M11.500 11.500l1.100 1.100M12.600 3.400l-1.100 1.100M4.500 11.500l-1.100 1.100',
  moon: 'M13 9.600A5.600 5.600 0 0 1 6.400 3a5.400 5.400 0 1 0 6.600 6.600Z',
  system: 'M2.500 3.500h11v7h-11zM6 13h4M8 10.500V13',
  copy: 'M5.500 5.500h7v8h-7zM3.500 10.500v-8h7',
  next: 'M6 3.500L10.500 8 6 12.500',
  previous: 'M10 3.500L5.500 8l4.500 4.500',
  butler: 'M3 13.500V6l5-3.500L13 6v7.500M6.500 13.500v-4h3v4',
  out: 'M6 3.500h6.500V10M12.500 3.500l-9 9',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  merge: 'M4 3v3c0 2 4 2 4 4.500V13M12 3v3c0 2-4 2-4 4.500',
  plus: 'M8 3.500v9M3.500 8h9',
  minus: 'M3.500 8h9',
  fit: 'M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10',
  undo: 'M5.500 3L2.500 6l3 3M2.500 6h7a3.500 3.500 0 0 1 0 7H6',
  run: 'M5 3.500v9l7-4.500-7-4.500Z',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name, className = 'size-4' }: { name: IconName; className?: string }) {
  return (
    <svg viewBox="0 0 16 16" className={`shrink-0 ${className}`} aria-hidden="true" focusable="false">
      <path
        d={shapes[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.400"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
