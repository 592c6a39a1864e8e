/** Reads a server-sent event stream and ignores comments, which are the server's heartbeat. */
export async function readEvents(body: ReadableStream<Uint8Array>, onEvent: (data: string) => void) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  let data: string[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
      else if (line === '' && data.length > 0) {
        onEvent(data.join('\n'))
        data = []
      }
    }
  }
}
