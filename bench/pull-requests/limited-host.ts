import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority } from '../../test/harness/certificates.ts'
import { github } from '../../test/harness/hosts/github.ts'
import { makeHandler } from '../../test/harness/hosts/host-handler.ts'
import { memoryModel } from '../../test/harness/hosts/model.ts'
import type { HostModel } from '../../test/harness/hosts/model.ts'
import type { Clock, Limit, Limits } from './request-limit.ts'
import { limitsBy } from './request-limit.ts'

/** A GitHub in memory, over HTTPS on 127.0.0.1, with one token and a limit on it. */
export interface LimitedHost {
  readonly origin: string
  readonly baseURL: string
  readonly caFile: string
  readonly models: readonly HostModel[]
  readonly limits: Pick<Limits, 'answered' | 'refused'>
  /** Requests that GitHub's documented operations do not allow. */
  violations(): readonly string[]
  close(): Promise<void>
}

/** Virtual milliseconds that pass with each request. With two dozen in flight, each takes about a second. */
const PER_REQUEST_MS = 50
const OWNER = 'acme'

/** Starts a host with these repositories, named acme/repo-0 and so on, whose `branches` can be merged into main. */
export async function startLimitedHost(
  repositories: readonly { readonly branches: readonly string[] }[],
  limit: Limit,
  clock: Clock,
): Promise<LimitedHost> {
  const authority = await makeAuthority()
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-bench-'))
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, authority.certPEM)
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const limits = limitsBy(limit, clock)
  let origin = ''
  const rows = repositories.map(({ branches }, index) => {
    const model = memoryModel({ repository: [OWNER, `repo-${index}`] })
    for (const branch of branches) model.branches.set(branch, 2)
    return { model, handler: makeHandler(github, model, () => origin) }
  })
  const handlers = new Map(rows.map(({ model, handler }) => [model.repository.join('/'), handler]))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    clock.now += PER_REQUEST_MS
    const { pathname } = new URL(request.url ?? '', origin)
    const called = github.repositoryOf(pathname.slice(github.apiPath.length))?.join('/') ?? ''
    if (limits.refuses(request.method ?? '', response)) return
    await handlers.get(called)?.handle(request, response)
  }

  const server = createServer({ cert: certPEM, key: keyPEM }, (request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `https://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    baseURL: origin + github.apiPath,
    caFile,
    models: rows.map(({ model }) => model),
    limits,
    violations: () => rows.flatMap(({ handler }) => handler.violations),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
