/** An error response of the server, or status 0 when it did not respond. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | null

  constructor(status: number, code: string, message: string, hint: string | null = null) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.hint = hint
  }

  get unreachable() {
    return this.status === 0
  }

  get unauthorized() {
    return this.status === 401
  }

  get forbidden() {
    return this.status === 403
  }

  get unavailable() {
    return this.status === 503
  }

  get notFound() {
    return this.status === 404
  }
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, 'unreachable', error instanceof Error ? error.message : String(error))
}

interface ErrorBody {
  error?: { code?: string; message?: string; hint?: string | null }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const body: ErrorBody = await response.json().catch(() => ({}))
  const {
    code = 'error',
    message = `the server responded with status ${response.status}`,
    hint = null,
  } = body.error ?? {}
  return new ApiError(response.status, code, message, hint)
}
