interface Props {
  butlers?: string[]
}

/** Names the butlers that are down, because their memories are missing from the page. */
export function Unavailable({ butlers = [] }: Props) {
  if (butlers.length === 0) return null
  return (
    <div role="alert" className="mb-6 rounded-lg border border-harm/40 bg-harm-wash px-4 py-3">
      {butlers.map((name) => (
        <p key={name} className="break-words">
          <strong className="font-medium text-harm">✕ {name} is down.</strong> Its memories are not included. Run{' '}
          <code className="font-mono text-sm">butler doctor</code> to find the cause.
        </p>
      ))}
    </div>
  )
}
