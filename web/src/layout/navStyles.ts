export const item =
  'flex h-10 shrink-0 items-center lg:h-8 gap-2.5 rounded-md px-2.5 text-muted hover:bg-sunken hover:text-ink'
export const here = 'bg-sunken font-medium text-ink!'
