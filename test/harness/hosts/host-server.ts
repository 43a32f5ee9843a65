import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeAuthority } from '../certificates.ts'
import type { Certificate } from '../certificates.ts'
import type { Dialect } from './dialect.ts'
import { makeHandler } from './host-handler.ts'
import type { HostHandler } from './host-handler.ts'
import type { HostModel } from './model.ts'

/** A host's API over HTTPS on 127.0.0.1. */
export interface HostServer extends HostHandler {
  /** `https://localhost:PORT`. */
  readonly origin: string
  readonly baseURL: string
  /** PEM file of the authority that clients have to trust. */
  readonly caFile: string
}

/** The certificate of stand-ins, and the authority that clients have to trust. */
export interface HostTrust {
  readonly certificate: Certificate
  /** PEM file of the authority. */
  readonly caFile: string
}

/** Made once for many stand-ins, because it takes longer than all their answers. Its file is removed with the test. */
export async function makeHostTrust(t: Test): Promise<HostTrust> {
  const authority = await makeAuthority()
  const caFile = join(t.testdir({}), 'ca.pem')
  await writeFile(caFile, authority.certPEM)
  return { certificate: await authority.issue({ names: ['localhost', '127.0.0.1'] }), caFile }
}

/** Starts the stand-in for one test; it ends with the test. */
export async function startHost(t: Test, dialect: Dialect, model: HostModel): Promise<HostServer> {
  return startTrustedHost(t, await makeHostTrust(t), { dialect, model })
}

/** The same with an existing certificate. */
export async function startTrustedHost(
  t: Test,
  { certificate, caFile }: HostTrust,
  { dialect, model }: { readonly dialect: Dialect; readonly model: HostModel },
): Promise<HostServer> {
  const { certPEM, keyPEM } = certificate
  let origin = ''
  const handler = makeHandler(dialect, model, () => origin)
  const server = createServer({ cert: certPEM, key: keyPEM }, (request, response) => {
    handler.handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  origin = `https://localhost:${(server.address() as AddressInfo).port}`
  return Object.assign(handler, { origin, baseURL: origin + dialect.apiPath, caFile })
}
