import { useState } from 'react'
import { useGet } from '../../api/hooks'
import { endpoint } from '../../lib/endpoint'
import { snippets } from '../../lib/snippets'
import { CopyBlock } from '../../ui/CopyBlock'
import { Segments } from '../../ui/Segments'
import { Select } from '../../ui/Select'

export function Connect() {
  const butlers = useGet('/api/butlers')
  const names = (butlers.data?.data ?? []).map((butler) => butler.name)
  const [butler, setButler] = useState('')
  const server = useGet('/api/server')
  // a client that names no butler gets the first one
  const other = butler && butler !== names[0] ? butler : undefined
  const path = other ? `/butlers/${encodeURIComponent(other)}/mcp` : '/mcp'
  const all = snippets(endpoint(path), server.data?.data.auth_required ?? false, other)
  const [client, setClient] = useState('Claude Code')
  const chosen = all.find((snippet) => snippet.client === client) ?? all[0]
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <Segments
          label="Client"
          value={client}
          options={all.map((snippet): [string, string] => [snippet.client, snippet.client])}
          onChange={setClient}
        />
        {names.length > 1 && (
          <Select
            label="Butler to connect to"
            value={butler || (names[0] ?? '')}
            options={names.map((name): [string, string] => [name, `Connect to ${name}`])}
            onChange={setButler}
          />
        )}
      </div>
      {chosen && (
        <>
          <p className="text-muted">{chosen.instruction}</p>
          <CopyBlock label={`the ${chosen.client} configuration`} text={chosen.text} />
        </>
      )}
    </div>
  )
}
