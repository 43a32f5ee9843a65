import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { openApiServer, type ApiServer } from '../../functions/cluster/api-server.ts'

/** Opens the API server that this kubeconfig names, as the programs do at their start. */
export function openAs(kubeconfig: string): ApiServer {
  return finding(kubeconfig, openApiServer)
}

/** Runs the work with KUBECONFIG set to this file. */
export function finding<T>(kubeconfig: string, work: () => T): T {
  const before = process.env['KUBECONFIG']
  process.env['KUBECONFIG'] = kubeconfig
  try {
    return work()
  } finally {
    if (before === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = before
  }
}

/** A kubeconfig, as an object, of a server without TLS; the user's members may be given. */
export function plainConfig(server: string, user: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    // client-node accepts a server without TLS only with this member.
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user }],
  }
}

/** Writes a kubeconfig into the test's folder and returns its path. */
export async function writeConfig(t: Test, config: object): Promise<string> {
  if (!existsSync(t.testdirName)) t.testdir()
  const file = `${t.testdirName}/kubeconfig-${randomBytes(4).toString('hex')}`
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

/** A listener on 127.0.0.1 in place of the API server, until the test ends; returns its address. */
export async function standIn(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

/** A CustomResourceDefinition of `test.example.com/v1` that keeps every field. */
export function definition(plural: string, kind: string, scope: 'Namespaced' | 'Cluster') {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.example.com` },
    spec: {
      group: 'test.example.com',
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}
