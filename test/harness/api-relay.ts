import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

/** A request that waits on its way, or its answer. */
export interface HeldCall {
  readonly when: 'before' | 'after'
  /** Until it is fulfilled. */
  readonly until: Promise<unknown>
  readonly fits: (call: { readonly method: string; readonly path: string; readonly body: string }) => boolean
}

/** A way to the API server on which calls can be held up. */
export interface ApiRelay {
  /** A kubeconfig for this way. */
  readonly kubeconfig: string
  /** Holds the next call that fits; the result says whether it has come. */
  readonly hold: (held: HeldCall) => () => boolean
  readonly close: () => Promise<void>
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
}

/** Starts a relay for the user of this kubeconfig, whose own one goes into the folder. */
export async function startApiRelay(kubeconfig: string, folder: string): Promise<ApiRelay> {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
  const [{ name, cluster } = { name: '', cluster: undefined }] = config.clusters
  if (cluster === undefined) throw new Error('The kubeconfig names no cluster.')
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64')
  const waiting = new Set<{ readonly held: HeldCall; came: boolean }>()

  async function relay(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = incoming
    const body = await buffer(incoming)
    const entry = [...waiting].find(
      (one) => !one.came && one.held.fits({ method, path, body: body.toString() }),
    )
    if (entry !== undefined) entry.came = true
    if (entry?.held.when === 'before') await entry.held.until
    const answer = await forward(path, incoming, body)
    const text = await buffer(answer)
    if (entry?.held.when === 'after') await entry.held.until
    response.writeHead(answer.statusCode ?? 502, answer.headers).end(text)
  }

  function forward(path: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const target = new URL(path, cluster?.server)
    const { method, headers } = incoming
    request(target, { method, ca, headers: { ...headers, host: target.host } })
      .once('response', resolve)
      .once('error', reject)
      .end(body)
    return promise
  }

  const server = createServer((incoming, response) => {
    void relay(incoming, response).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const own = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  const file = join(folder, 'kubeconfig-relay')
  await writeFile(file, JSON.stringify({ ...config, clusters: [{ name, cluster: own }] }), { mode: 0o600 })
  return {
    kubeconfig: file,
    hold(held) {
      const entry = { held, came: false }
      waiting.add(entry)
      return () => entry.came
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
