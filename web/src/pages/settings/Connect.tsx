import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { endpoint } from '../../lib/endpoint'
import { connectCommand, snippets } from '../../lib/snippets'
import { CopyBlock } from '../../ui/CopyBlock'
import { Segments } from '../../ui/Segments'

/** How to connect each client: by a command on this machine, or by hand on another one. */
export function Connect({ butler }: { butler: string | undefined }) {
  const butlers = useGet('/api/butlers')
  const server = useGet('/api/server').data?.data
  const first = butlers.data?.data[0]?.name
  // a client that names no butler gets the first one
  const other = butler && butler !== first ? butler : undefined
  const path = other ? `/butlers/${encodeURIComponent(other)}/mcp` : '/mcp'
  const all = snippets(endpoint(path), server?.auth_required ?? false, other, server)
  const [client, setClient] = useState('Claude Code')
  const chosen = all.find((snippet) => snippet.client === client) ?? all[0]
  const command = chosen && connectCommand(chosen.client, server, other)
  return (
    <div className="space-y-3">
      <Segments
        label="Client"
        value={client}
        options={all.map((snippet): [string, string] => [snippet.client, snippet.client])}
        onChange={setClient}
      />
      {command && (
        <>
          <p className="text-muted">
            On the server’s machine, run this command. It writes the configuration and backs up the old one:
          </p>
          <CopyBlock label={`the command that connects ${chosen.client}`} text={command} />
          {server && !server.cli_flags && (
            <p className="text-muted">
              If the server was started with <code>--data-dir</code>, <code>--config</code> or <code>--roster</code>,
              add the same options.
            </p>
          )}
        </>
      )}
      {chosen && chosen.text !== command && (
        <>
          <p className="text-muted">{command ? `On another machine: ${chosen.instruction}` : chosen.instruction}</p>
          <CopyBlock label={`the ${chosen.client} configuration`} text={chosen.text} />
        </>
      )}
    </div>
  )
}
