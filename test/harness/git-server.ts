import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, type Authority, type CertificateRequest } from './certificates.ts'
import { openBackend } from './git-backend.ts'
import { makeFaultTable, type FaultTable } from './git-faults.ts'
import { createRepository, type GitRepository, type RepositoryOptions } from './git-repository.ts'
import type { Dialect } from './hosts/dialect.ts'
import type { HostHandler } from './hosts/host-handler.ts'
import { hostAPI } from './hosts/hosted-api.ts'
import type { HostModel } from './hosts/model.ts'
import { rightKey, serve, type GitSite, type GitUser, type LoggedRequest, type Right } from './git-site.ts'

export interface GitServerOptions {
  readonly users: readonly GitUser[]
  /** Folder of the repositories, kept at the end; default: a temporary one that is removed with the server. */
  readonly root?: string
  /** Signs the server's certificate; default: one of its own. */
  readonly authority?: Authority
  /** The certificate's names (default localhost, 127.0.0.1, ::1) and whether it has expired or is not valid yet. */
  readonly certificate?: Partial<Pick<CertificateRequest, 'names' | 'expired' | 'early'>>
  /** Plain http instead of https. */
  readonly plain?: boolean
  /** Default: a free one. */
  readonly port?: number
}

/** A real Git server on 127.0.0.1: smart HTTP with Basic authentication, rights, and faults to switch on. */
export interface GitServer {
  /** `https://localhost:PORT`, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** PEM file of the authority that clients have to trust. */
  readonly caFile: string
  readonly authority: Authority
  readonly faults: FaultTable
  /** Every request to Git in the order of arrival. */
  readonly requests: LoggedRequest[]
  createRepository(name: string, options?: RepositoryOptions): Promise<GitRepository>
  /** Lets one more user log in from now on, until the returned function is called. */
  admit(user: GitUser): () => void
  /** Sets what a user may do in one repository from now on. */
  setRight(user: GitUser, repository: string, right: Right): void
  /** Serves the API of a host for one repository from now on; `origin`: the one in answers, where it is not `url`. */
  serveAPI(dialect: Dialect, model: HostModel, origin?: string): HostHandler
  /** Breaks every connection, ends every child and removes temporary files. */
  close(): Promise<void>
}

/** Starts the server; needs Node and Git on the machine and nothing else. */
export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'commitlet-git-')))
  await mkdir(root, { recursive: true })
  const authority = options.authority ?? (await makeAuthority())
  const caFile = join(root, 'ca.pem')
  await writeFile(caFile, authority.certPEM)
  const users = [...options.users]
  const site: GitSite = {
    users,
    backend: openBackend(root),
    faults: makeFaultTable(),
    requests: [],
    rights: new Map(),
    apis: [],
  }
  const { server, port } = await listen(options, authority, site)
  const url = `${options.plain === true ? 'http' : 'https'}://localhost:${port}`
  return {
    url,
    port,
    caFile,
    authority,
    faults: site.faults,
    requests: site.requests,
    createRepository: (name, wanted) => createRepository({ root, url }, name, wanted),
    admit(user) {
      users.push(user)
      return () => void users.splice(users.indexOf(user), 1)
    },
    setRight: (user, repository, right) => void site.rights.set(rightKey(user, repository), right),
    serveAPI(dialect, model, origin = url) {
      const api = hostAPI(dialect, model, () => origin)
      site.apis.push(api)
      return api.handler
    },
    async close() {
      site.backend.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (options.root === undefined) await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function listen(
  options: GitServerOptions,
  authority: Authority,
  site: GitSite,
): Promise<{ server: Server; port: number }> {
  const names = ['localhost', '127.0.0.1', '::1']
  const { certPEM, keyPEM } = await authority.issue({ names, ...options.certificate })
  const server = options.plain === true ? createPlainServer() : createServer({ cert: certPEM, key: keyPEM })
  server.on('request', (request, response) => {
    // The client, or a fault, broke the connection: there is no one left to answer.
    serve(site, { request, response }).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return { server, port: address.port }
}
