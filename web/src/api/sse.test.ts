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

test('joins an event that arrives in several chunks', async () => {
  expect(await events('data: {"a"', ':1}\n', '\n')).toEqual(['{"a":1}'])
})

test('ignores heartbeats and unfinished events', async () => {
  expect(await events(': heartbeat\n\n', 'event: memory\r\ndata: x\r\ndata: y\r\n\r\n', 'data: z')).toEqual(['x\ny'])
})
