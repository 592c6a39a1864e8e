import { expect, test } from 'vitest'
import { readEvents } from './sse'

function stream(...chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk))
      controller.close()
    },
  })
}

async function events(...chunks: string[]) {
  const received: string[] = []
  await readEvents(stream(...chunks), (data) => received.push(data))
  return received
}

test('an event cut into pieces is one event', async () => {
  expect(await events('data: {"a"', ':1}\n', '\n')).toEqual(['{"a":1}'])
})

test('a heartbeat is no event, and an unfinished event is not reported', async () => {
  expect(await events(': still here\n\n', 'event: memory\r\ndata: x\r\ndata: y\r\n\r\n', 'data: z')).toEqual(['x\ny'])
})
