/** What is on the page may be old: say so, and how to mend it. */
export function ServerDown() {
  return (
    <div role="alert" className="border-b border-harm/40 bg-harm-wash px-4 py-2.5 text-sm sm:px-6 lg:px-8">
      <strong className="font-medium text-harm">The server does not answer.</strong> What you see is from before. Start
      it with <code className="font-mono">butler serve</code>; this page takes up again by itself.
    </div>
  )
}
