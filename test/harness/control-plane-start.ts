import { generateKeyPairSync } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAdmissionClient } from './admission-client.ts'
import { makeAuthority, type Authority, type Certificate } from './certificates.ts'
import type { Binaries } from './control-plane-build.ts'
import { startLeashed, type Leashed } from './leash.ts'
import { freePort, waitFor } from './wait.ts'

/** A running API server with etcd, as one process passes it to another. */
export interface RunningPlane {
  readonly url: string
  readonly kubectl: string
  /** Folder of all temporary files; 0700. */
  readonly folder: string
  /** Signs the server's and the clients' certificates. */
  readonly authority: Authority
  /** PEM texts of the authorities of the server's certificates, the earlier ones included. */
  readonly trusted: readonly string[]
  readonly restart: Restart
  stop(): Promise<void>
}

/** Stops one of the two servers, and starts it with the same data; it is ready before this resolves. */
export type Restart = (server: 'etcd' | 'apiServer', how?: RestartOptions) => Promise<void>

export interface RestartOptions {
  /** Default: SIGKILL. */
  readonly signal?: 'SIGKILL' | 'SIGTERM'
  /** From now on the API server's certificate is signed by this authority. */
  readonly authority?: Authority
  /** What is done while the server is down. */
  readonly meanwhile?: () => Promise<unknown>
}

/** Long, for a machine that is busy with other tests; a wait ends as soon as it can. */
const READY_DEADLINE = 180_000

/** How the servers are started. */
export interface StartOptions {
  readonly signal?: AbortSignal | undefined
  /** Further flags of kube-apiserver; they come last. */
  readonly flags?: readonly string[]
}

/**
 * Starts etcd and kube-apiserver on free ports of 127.0.0.1 and waits until both are ready (4 s). Where `signal` fires
 * before that, both are stopped and it fails.
 */
export async function startServers(binaries: Binaries, options: StartOptions = {}): Promise<RunningPlane> {
  const { signal, flags = [] } = options
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-plane-'))
  const authority = await makeAuthority('Commitlet control plane')
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()]
  await writeKeys(folder, authority)
  const admissionFlag = `--admission-control-config-file=${await writeAdmissionClient(folder, authority)}`
  const log = join(folder, 'servers.log')
  const start = {
    etcd: () => startLeashed(binaries.etcd, etcdFlags(folder, client, peer), log),
    apiServer: () =>
      startLeashed(
        binaries.apiServer,
        [...apiServerFlags(folder, client, port), admissionFlag, ...flags],
        log,
      ),
  }
  const servers = { etcd: start.etcd(), apiServer: start.apiServer() }
  const trusted = [authority.certPEM]
  const atEnd = () => {
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', atEnd)
  const plane: RunningPlane = {
    url: `https://127.0.0.1:${port}`,
    kubectl: binaries.kubectl,
    folder,
    authority,
    trusted,
    async restart(server, { signal: asked = 'SIGKILL', authority: signer, meanwhile } = {}) {
      await servers[server].stop(asked)
      if (signer !== undefined) {
        trusted.push(signer.certPEM)
        await writeServing(folder, signer)
      }
      await meanwhile?.()
      servers[server] = start[server]()
      await ready(plane, Object.values(servers), signal)
    },
    async stop() {
      await Promise.all(Object.values(servers).map((server) => server.stop()))
      process.off('exit', atEnd)
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await ready(plane, Object.values(servers), signal).catch(async (error: unknown) => {
    const tail = (await readFile(log, 'utf8')).split('\n').slice(-20).join('\n')
    await plane.stop()
    throw new Error(`The control plane did not start:\n${tail}`, { cause: error })
  })
  return plane
}

async function writeKeys(folder: string, authority: Authority): Promise<void> {
  await writeServing(folder, authority)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
  const files = {
    'ca.crt': authority.certPEM,
    'sa.key': signer,
  }
  await writeAll(folder, files)
}

/** The API server's certificate, signed by this authority. */
async function writeServing(folder: string, authority: Authority): Promise<void> {
  const names = ['localhost', '127.0.0.1', '10.0.0.1', 'kubernetes.default.svc']
  const { certPEM, keyPEM } = await authority.issue({ names })
  await writeAll(folder, { 'tls.crt': certPEM, 'tls.key': keyPEM })
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), content, { mode: 0o600 })
}

function etcdFlags(folder: string, client: number, peer: number): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
  ]
}

function apiServerFlags(folder: string, etcd: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    `--cert-dir=${folder}`,
    `--tls-cert-file=${join(folder, 'tls.crt')}`,
    `--tls-private-key-file=${join(folder, 'tls.key')}`,
    `--client-ca-file=${join(folder, 'ca.crt')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(folder, 'sa.key')}`,
    `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=0',
    '--enable-priority-and-fairness=false',
  ]
}

async function ready(
  plane: RunningPlane,
  servers: readonly Leashed[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const admin = await plane.authority.issue({
    names: [],
    clientName: 'admin',
    organization: 'system:masters',
  })
  const ended = new Set<Leashed>()
  for (const server of servers) void server.gone.then(() => ended.add(server))
  for (const path of ['/readyz', '/api/v1/namespaces/default']) {
    await waitFor(
      `200 of ${path}`,
      async () => {
        signal?.throwIfAborted()
        if (ended.size > 0) throw new Error('etcd or kube-apiserver ended.')
        return (await statusOf(`${plane.url}${path}`, plane, admin)) === 200 ? true : undefined
      },
      READY_DEADLINE,
    )
  }
}

/** The status of a GET, or undefined while nothing listens or answers. */
function statusOf(url: string, plane: RunningPlane, admin: Certificate): Promise<number | undefined> {
  const options = {
    ca: [...plane.trusted],
    cert: admin.certPEM,
    key: admin.keyPEM,
    agent: false,
    timeout: 2000,
  }
  return new Promise((resolve) => {
    const asked = request(url, options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked
      .once('timeout', () => asked.destroy())
      .once('error', () => resolve(undefined))
      .end()
  })
}
