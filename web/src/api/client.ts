import { ApiError, errorOf } from './error'
import type { paths } from './schema'
import { sessionHeaders } from './session'

export type Method = 'get' | 'put' | 'post' | 'delete'

/** Paths of the generated API schema that support this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never
}[keyof paths]

type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : undefined
type Success<R> = R extends { 200: infer A } ? Json<A> : R extends { 201: infer B } ? Json<B> : undefined

export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? Success<R> : never
export type Query<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? Q : undefined
export type PathParameters<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { path: infer Q } } ? Q : undefined
export type Body<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: { content: { 'application/json': infer T } } } ? T : undefined

export interface Parameters<P extends keyof paths, M extends Method> {
  path?: PathParameters<P, M>
  query?: Query<P, M>
  body?: Body<P, M>
  signal?: AbortSignal
}

type Values = Record<string, string | number | boolean | null | undefined>

/** Fills the path parameters and appends the query; parameters without a value are omitted. */
export function address(path: string, parameters: { path?: unknown; query?: unknown } = {}): string {
  const filled = Object.entries((parameters.path ?? {}) as Values).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  )
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries((parameters.query ?? {}) as Values)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text ? `${filled}?${text}` : filled
}

/** Sends a request to the API; throws an `ApiError` unless it succeeds. */
export async function request<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  parameters: Parameters<P, M> = {},
): Promise<Answer<P, M>> {
  const { body, signal } = parameters
  const response = await fetch(address(path, parameters), {
    method: method.toUpperCase(),
    headers: {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...sessionHeaders(),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', 'the server is not responding')
  })
  if (!response.ok) throw await errorOf(response)
  return (await response.json()) as Answer<P, M>
}
