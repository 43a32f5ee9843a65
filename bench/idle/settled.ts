import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import http from 'node:http'
import { json } from 'node:stream/consumers'
import { dirname } from 'node:path'
import { elements, isRecord, member, textMember } from '../../functions/domain/json-value.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { gitCommit } from '../../test/harness/installation.ts'

/** Objects of one transaction: etcd takes 128 by default. */
const AT_ONCE = 100
const WORKERS = 4
const NAMESPACES = 50
const NAME = 'sample'

/** The API server of a control plane: its process, and where its etcd listens. */
export interface ServerProcess {
  readonly pid: number
  readonly etcd: string
}

/** Looks for the process by the folder that its flags name (Linux). */
export async function serverOf({ kubeconfig }: ControlPlane): Promise<ServerProcess> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    const [program = '', ...flags] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split(
      '\0',
    )
    const etcd = flags.find((flag) => flag.startsWith('--etcd-servers='))?.split('=')[1]
    const isOurs = flags.includes(`--cert-dir=${dirname(kubeconfig)}`)
    if (program.endsWith('kube-apiserver') && isOurs && etcd !== undefined) return { pid: Number(pid), etcd }
  }
  throw new Error('The process of the API server was not found.')
}

/**
 * Makes GitCommits that have succeeded, numbered `from` to `to`, in 50 namespaces: one is made by the API server, and etcd gets
 * copies of what that has stored, which is twenty times as fast. `spec` overrides members of theirs.
 */
export function settledMaker(
  plane: ControlPlane,
  { etcd }: ServerProcess,
  spec: Readonly<Record<string, unknown>> = {},
) {
  let sample: Readonly<Record<string, unknown>> | undefined

  return async function make(from: number, to: number): Promise<void> {
    sample ??= await storedSample(plane, etcd, spec)
    const object = sample
    let next = from
    async function work(): Promise<void> {
      while (next < to) {
        const first = next
        next = Math.min(to, next + AT_ONCE)
        const numbers = Array.from({ length: next - first }, (_, index) => first + index)
        await ask(etcd, 'txn', { success: numbers.map((number) => putOf(object, number)) })
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
  }
}

function putOf(sample: Readonly<Record<string, unknown>>, number: number): object {
  const [namespace, name] = [`team-${number % NAMESPACES}`, `commit-${number}`]
  const kept = sample['metadata']
  const metadata = { ...(isRecord(kept) ? kept : {}), namespace, name, uid: randomUUID() }
  const value = base64(JSON.stringify({ ...sample, metadata }))
  return { requestPut: { key: base64(keyOf(namespace, name)), value } }
}

function keyOf(namespace: string, name: string): string {
  return `/registry/commitlet.dev/gitcommits/${namespace}/${name}`
}

/** What etcd holds of a GitCommit that was applied, stamped and carried out. */
async function storedSample(
  plane: ControlPlane,
  etcd: string,
  spec: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const path = '/apis/commitlet.dev/v1/namespaces/default/gitcommits'
  const object = gitCommit(NAME, 'https://git.example.com/acme/config.git', spec)
  const annotations = {
    'commitlet.dev/requested-by': 'developer',
    'commitlet.dev/requester': '{"username":"developer","groups":["developers","system:authenticated"]}',
    'commitlet.dev/requester-signature': '0'.repeat(64),
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(object),
  }
  const applied = { ...object, metadata: { name: NAME, annotations } }
  await plane.api.need('POST', `${path}?fieldManager=kubectl-client-side-apply`, applied)
  const merge = { 'content-type': 'application/merge-patch+json' }
  await plane.api.need('PATCH', `${path}/${NAME}/status?fieldManager=commitlet`, { status: STATUS }, merge)
  const found = await ask(etcd, 'range', { key: base64(keyOf('default', NAME)) })
  const value = textMember(elements(member(found, 'kvs'))[0], 'value') ?? ''
  const stored: unknown = JSON.parse(Buffer.from(value, 'base64').toString())
  await plane.api.need('DELETE', `${path}/${NAME}`)
  return isRecord(stored) ? stored : {}
}

const TIME = '2026-01-01T00:00:00Z'
const STATUS = {
  ...{ observedGeneration: 1, phase: 'Succeeded', attempts: 1, credentialsUsed: 'Primary' },
  ...{ startedAt: TIME, lastAttemptTime: TIME },
  commit: { sha: '0'.repeat(40), shortSHA: '0'.repeat(12), branch: 'main', path: 'shop/settings.yaml' },
  conditions: [
    {
      ...{ type: 'Ready', status: 'True', reason: 'Succeeded', observedGeneration: 1 },
      ...{ message: 'Pushed 000000000000 to main: shop/settings.yaml.', lastTransitionTime: TIME },
    },
  ],
}

/** A call of etcd's gateway for JSON (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/). */
async function ask(etcd: string, call: 'range' | 'txn', body: object): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
  const agent = http.globalAgent
  http
    .request(`${etcd}/v3/kv/${call}`, { method: 'POST', agent }, resolve)
    .on('error', reject)
    .end(JSON.stringify(body))
  const response = await promise
  const answer = await json(response)
  if (response.statusCode === 200) return answer
  throw new Error(`etcd answered ${response.statusCode}: ${JSON.stringify(answer)}`)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
