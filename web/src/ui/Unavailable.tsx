interface Props {
  butlers?: string[]
}

/** A butler that cannot be reached is named, never counted as zero. */
export function Unavailable({ butlers = [] }: Props) {
  if (butlers.length === 0) return null
  return (
    <div role="alert" className="mb-6 rounded-lg border border-harm/40 bg-harm-wash px-4 py-3">
      {butlers.map((name) => (
        <p key={name} className="break-words">
          <strong className="font-medium text-harm">✕ {name} is down.</strong> What it knows is not counted here.{' '}
          <code className="font-mono text-sm">butler doctor</code> says what is wrong.
        </p>
      ))}
    </div>
  )
}
