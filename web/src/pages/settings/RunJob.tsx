import { useMutation, useQueryClient } from '@tanstack/react-query'
import { request } from '../../api/client'
import { useGet } from '../../api/hooks'
import { missingRight, useHasRight } from '../../api/rights'
import type { JobItemAt } from '../../api/schema'
import { command } from '../../lib/commands'
import { capitalized } from '../../lib/labels'
import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { failure, toast } from '../../ui/toast'
import { outcome } from './schedule'

/** A button for a cheap job; for any other, the command that runs it. */
export function RunJob({ job }: { job: JobItemAt }) {
  const client = useQueryClient()
  const isAdmin = useHasRight('admin')
  const server = useGet('/api/server').data?.data
  const run = useMutation({
    mutationFn: () => request('post', '/api/jobs/{job}/run', { path: { job: job.job }, query: { butler: job.home } }),
    onSuccess: ({ data }) => {
      toast(
        data.status === 'running'
          ? `${capitalized(job.job)} is running.`
          : `${capitalized(job.job)}: ${outcome({ status: data.status, result: data.result }).replace(';', '.')}`,
      )
      return client.invalidateQueries()
    },
    onError: failure(`${capitalized(job.job)} failed`),
  })
  if (!job.cheap) {
    return (
      <code
        className="font-mono text-xs break-words text-muted"
        title="This job is slow or costs money, so run it from a terminal"
      >
        {command(`jobs run ${job.job}`, server, job.home)}
      </code>
    )
  }
  if (!isAdmin) return <span className="text-xs text-muted">{missingRight.admin}</span>
  return (
    <Button
      size="small"
      className="justify-self-start"
      busy={run.isPending}
      onClick={() => run.mutate()}
      aria-label={`Run now: ${capitalized(job.job).toLowerCase()} of ${job.home}`}
    >
      <Icon name="run" className="size-3.5" /> Run now
    </Button>
  )
}
