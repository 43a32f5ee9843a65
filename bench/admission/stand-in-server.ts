import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/**
 * The two servers of the admission benchmark, each in its own process. `node stand-in-server.ts bare CERT KEY BYTES`
 * reads each body and answers that many bytes, the least that Node can do with TLS. `... cluster CERT KEY` is an API
 * server that allows every access review at once, knows ConfigMaps and shows no Secret, as with the webhook's default
 * rights. Prints its port and runs until its standard input ends.
 */
const [part, certFile = '', keyFile = '', bytes = '0'] = process.argv.slice(2)
/** As Fastify's, so that connections stay open between the rounds. */
const KEEP_ALIVE_MS = 72_000

type Answer = (request: IncomingMessage) => { readonly code: number; readonly text: string }

function bare(): Answer {
  const text = 'x'.repeat(Number(bytes))
  return () => ({ code: 200, text })
}

function standIn(): Answer {
  const verbs = ['get', 'list', 'create']
  const resources = ['configmaps', 'secrets', 'services', 'pods'].map((name) => {
    const kind = { configmaps: 'ConfigMap', secrets: 'Secret', services: 'Service' }[name] ?? 'Pod'
    return { name, singularName: kind.toLowerCase(), namespaced: true, kind, verbs }
  })
  const list = { kind: 'APIResourceList', groupVersion: 'v1', resources }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {} }
  const granted = JSON.stringify({ ...review, status: { allowed: true, reason: 'RBAC: allowed' } })
  const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 }
  return ({ method, url }) => {
    if (method === 'POST') return { code: 201, text: granted }
    if (url === '/api/v1') return { code: 200, text: JSON.stringify(list) }
    return { code: 403, text: JSON.stringify(status) }
  }
}

const answer = part === 'bare' ? bare() : standIn()
const options = {
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
  keepAliveTimeout: KEEP_ALIVE_MS,
}
const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { code, text } = answer(request)
    response.writeHead(code, { 'content-type': 'application/json' }).end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
process.stdin.resume().on('end', () => process.exit(0))
