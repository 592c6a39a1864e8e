export function Wordmark() {
  return (
    <span className="flex items-center gap-2 px-2.5 font-semibold tracking-tight">
      <img src="/icon.svg" alt="" className="size-5" />
      Butler Memory
    </span>
  )
}
