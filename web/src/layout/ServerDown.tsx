/** Warns that the page may show outdated data, and says how to start the server. */
export function ServerDown() {
  return (
    <div role="alert" className="border-b border-harm/40 bg-harm-wash px-4 py-2.5 text-sm sm:px-6 lg:px-8">
      <strong className="font-medium text-harm">The server is not responding.</strong> This page shows the last known
      data. Start the server with <code className="font-mono">butler serve</code>; the page reconnects by itself.
    </div>
  )
}
