// A fake Anthropic API. It appends each request to FILE as one line of JSON and always returns the same answer.
// usage: anthropic.mjs FILE; prints its port.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [file] = process.argv.slice(2)
const text = 'The kettle is on.'
const usage = { input_tokens: 1, output_tokens: 1 }

function answer(message_request, response) {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: message_request.model, content: [], stop_reason: null, stop_sequence: null, usage }
  if (!message_request.stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  send('message_start', { message })
  send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  send('content_block_stop', { index: 0 })
  send('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage })
  send('message_stop', {})
  response.end()
}

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    if (request.method === 'POST' && /^\/v1\/messages(\?|$)/.test(request.url)) {
      const message_request = JSON.parse(body)
      appendFileSync(file, `${JSON.stringify(message_request)}\n`)
      answer(message_request, response)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{}')
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
