import type { components, paths } from './schema'

export type Schemas = components['schemas']

/** The most entries of a page: lists that are short enough are shown whole. */
export const ALL = 1_000

type Method = 'get' | 'put' | 'post' | 'delete'
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : never
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 ? Json<R[S]> : never }[keyof R]
  : never
type Query<O> = O extends { parameters: { query?: infer Q } } ? Q : never
type Path<O> = O extends { parameters: { path: infer P } } ? P : never
type Body<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never

type Having<M extends Method> = { [P in keyof paths]: paths[P][M] extends object ? P : never }[keyof paths]

export interface Options<O> {
  query?: Query<O>
  path?: Path<O>
  body?: Body<O>
  /** The entity tag that was seen: the call fails with 412 if it is another by now. */
  ifMatch?: string
}

export interface Answered<T> {
  data: T
  etag: string | null
  status: number
}

/** What the server said was wrong, or that it did not answer at all (status 0). */
export class ApiError extends Error {
  constructor(readonly problem: Pick<Schemas['Problem'], 'status' | 'title'> & Partial<Schemas['Problem']>) {
    super(problem.detail ?? problem.title)
    this.name = 'ApiError'
  }

  get status(): number {
    return this.problem.status
  }

  /** What is wrong with one field, in words. */
  field(path: string): string | undefined {
    const found = this.problem.errors?.find((error) => error.path === path)
    return found && (found.expected ? `${found.message} (${found.expected})` : found.message)
  }
}

/** Where access tokens come from. */
export interface Credentials {
  token(): string | null
  /** Gets another token; false if there is no session any more. */
  renew(): Promise<boolean>
}

let credentials: Credentials = { token: () => null, renew: () => Promise.resolve(false) }

export function useCredentials(from: Credentials): void {
  credentials = from
}

/** Calls the API. A token that has expired is renewed once. */
export async function call<M extends Method, P extends Having<M>>(
  method: M,
  path: P,
  options: Options<paths[P][M]> = {},
): Promise<Answered<Answer<paths[P][M]>>> {
  const response = await send(method, path, options)
  if (response.status !== 401 || !(await credentials.renew())) return read(response)
  return read(await send(method, path, options))
}

/** Calls the API without a token, for those who have none yet. */
export async function callBare<P extends Having<'post'>>(
  path: P,
  body?: Body<paths[P]['post']>,
): Promise<Answered<Answer<paths[P]['post']>>> {
  return read(await send('post', path, { body } as Options<paths[P]['post']>, null))
}

export async function get<P extends Having<'get'>>(
  path: P,
  options: Options<paths[P]['get']> = {},
): Promise<Answer<paths[P]['get']>> {
  return (await call('get', path, options)).data
}

async function send<O>(
  method: Method,
  path: string,
  options: Options<O>,
  token: string | null = credentials.token(),
): Promise<Response> {
  const headers = new Headers({ accept: 'application/json' })
  if (token) headers.set('authorization', `Bearer ${token}`)
  if (options.ifMatch) headers.set('if-match', options.ifMatch)
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  const body = options.body === undefined ? null : JSON.stringify(options.body)
  try {
    return await fetch(address(path, options), { method: method.toUpperCase(), headers, body })
  } catch {
    throw new ApiError({ status: 0, title: 'the server does not answer' })
  }
}

/** The path with its names filled in, and what stands behind the question mark. */
export function address<O>(path: string, options: Options<O>): string {
  const names = (options.path ?? {}) as Record<string, unknown>
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(names[name])))
  const entries = Object.entries((options.query ?? {}) as Record<string, unknown>)
  const given = entries.filter(([, value]) => value !== undefined && value !== null && value !== '')
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return query ? `${filled}?${query}` : filled
}

async function read<T>(response: Response): Promise<Answered<T>> {
  const text = await response.text()
  const is_json = response.headers.get('content-type')?.includes('json') ?? false
  const data = (is_json && text ? JSON.parse(text) : undefined) as T
  if (!response.ok) {
    const problem = data as Schemas['Problem'] | undefined
    throw new ApiError(problem ?? { status: response.status, title: response.statusText })
  }
  return { data, etag: response.headers.get('etag'), status: response.status }
}
