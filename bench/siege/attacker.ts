import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { openApiServer } from '../../functions/cluster/api-server.ts'
import type { Certificate } from '../../test/harness/certificates.ts'
import { restoreAuthority } from '../../test/harness/certificates.ts'
import type { Arena } from './attack.ts'
import { ATTACKS } from './attacks.ts'

/** What one attacker is told on standard input, as one line of JSON: the attack then begins. */
export interface Order extends Pick<Arena, 'functionURL' | 'webhookURL' | 'namespaces'> {
  readonly name: string
  readonly authority: Certificate
}

const PLURALS: Readonly<Record<string, string>> = {
  ConfigMap: 'api/v1 configmaps',
  Secret: 'api/v1 secrets',
  GitCommit: 'apis/commitlet.dev/v1 gitcommits',
  PullRequest: 'apis/commitlet.dev/v1 pullrequests',
}
/** How long an attack may take to end. */
const END_MS = 3_000

/**
 * One attack, in a process of its own so that no other one slows it down. Writes a line when it is ready, attacks from
 * the order until its standard input ends, and writes what it did as a second line. The API server is the one of
 * KUBECONFIG. A connection that a program breaks is no error of the attacker.
 */
process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error.code === undefined) process.stderr.write(`an attacker: ${String(error.stack)}\n`)
})
const stop = new AbortController()
const input = createInterface({ input: process.stdin })
input.once('close', () => stop.abort())
input.once('line', (line) => void attack(JSON.parse(line) as Order))
process.stdout.write('ready\n')

async function attack({ name, namespaces, authority, ...addresses }: Order): Promise<void> {
  const [namespace = ''] = namespaces
  // It sends any method.
  const api = openApiServer() as Arena['api']
  const aborted = new Promise<never>((_resolve, reject) => {
    stop.signal.addEventListener('abort', () => reject(new Error('The siege has ended.')))
  })
  aborted.catch(() => undefined)
  const create: Arena['create'] = async (object, inNamespace = namespace) => {
    const { kind } = object as { readonly kind: string }
    const [group, plural] = (PLURALS[kind] ?? '').split(' ')
    const path = `/${group}/namespaces/${inNamespace}/${plural}`
    const created = await Promise.race([api({ method: 'POST', path, body: object }), aborted])
    return created.status
  }
  const own = { namespace, namespaces }
  const arena = { ...addresses, ...own, authority: restoreAuthority(authority), api, create }
  const chosen = ATTACKS.find((one) => one.name === name)
  const deed = await Promise.race([chosen?.run(arena, stop.signal), tooLate(stop.signal)]).catch(String)
  process.stdout.write(`${deed ?? 'There is no such attack.'}\n`, () => process.exit(0))
}

async function tooLate(signal: AbortSignal): Promise<string> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  await pause(END_MS)
  return 'did not end in time'
}
