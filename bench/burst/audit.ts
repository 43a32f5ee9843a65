import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ACCOUNTS, SYSTEM } from '../../test/harness/accounts.ts'

type Part = keyof typeof ACCOUNTS

/** How often each part has called the API server, by verb and resource, such as `create subjectaccessreviews`. */
export type Calls = Readonly<Record<Part, ReadonlyMap<string, number>>>

/** The API server's own count of the calls of both parts: its audit log. */
export interface Audit {
  /** For the start of the API server. */
  readonly flags: readonly string[]
  /** The calls since the last time. */
  readonly take: () => Promise<Calls>
}

/** So large that the log is never rotated. */
const MOST_MEGABYTES = 8_192

interface Entry {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
}

/** Prepares an audit log in the folder that has one line for each answered call of Commitlet's accounts alone. */
export async function openAudit(folder: string): Promise<Audit> {
  const [policy, log] = [join(folder, 'audit-policy.json'), join(folder, 'audit.log')]
  const users = Object.values(ACCOUNTS).map((account) => `system:serviceaccount:${SYSTEM}:${account}`)
  await writeFile(
    policy,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived', 'ResponseStarted'],
      rules: [{ level: 'Metadata', users }, { level: 'None' }],
    }),
  )
  await writeFile(log, '')
  let read = 0
  return {
    flags: [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      `--audit-log-maxsize=${MOST_MEGABYTES}`,
    ],
    async take() {
      const calls = { function: new Map<string, number>(), webhook: new Map<string, number>() }
      const added = await buffer(createReadStream(log, { start: read }))
      // The last line may still be being written.
      const whole = added.subarray(0, added.lastIndexOf('\n') + 1)
      read += whole.length
      for (const line of whole.toString().split('\n').slice(0, -1)) count(calls, line)
      return calls
    },
  }
}

function count(calls: Readonly<Record<Part, Map<string, number>>>, line: string): void {
  const { verb, user, objectRef = {} } = JSON.parse(line) as Entry
  const part = user.username.endsWith(ACCOUNTS.function) ? 'function' : 'webhook'
  const { resource = 'discovery', subresource } = objectRef
  const call = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
  calls[part].set(call, (calls[part].get(call) ?? 0) + 1)
}
