import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathBelow, type Dialect } from './dialect.ts'
import { makeHandler } from './host-handler.ts'
import type { HostHandler } from './host-handler.ts'
import type { HostModel } from './model.ts'

/** A host's API for one repository, on an origin that also serves other things. */
export interface HostedAPI {
  readonly handler: HostHandler
  /** Whether this path, with its query, is for this API. */
  serves(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/**
 * Makes the API. At its own path it also serves what is below that path and about no repository; at the top of the
 * origin only requests about its repository.
 */
export function hostAPI(dialect: Dialect, model: HostModel, origin: () => string): HostedAPI {
  const handler = makeHandler(dialect, model, origin)
  const known = nameOf(model.repository)
  return {
    handler,
    handle: (request, response) => handler.handle(request, response),
    serves(address) {
      const { pathname } = new URL(address, 'http://host')
      const path = pathBelow(dialect, pathname)
      if (path === undefined) return false
      const called = dialect.repositoryOf(path)
      return called === undefined ? dialect.apiPath !== '' : nameOf(called) === known
    },
  }
}

function nameOf(repository: readonly string[]): string {
  return repository.join('/').toLowerCase()
}
