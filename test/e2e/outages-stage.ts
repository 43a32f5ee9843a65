import { appendFile, rm } from 'node:fs/promises'
import type { Test } from 'tap'
import { ACCOUNTS, SYSTEM } from '../harness/accounts.ts'
import { makeAuthority } from '../harness/certificates.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import type { Installation } from '../harness/installation.ts'
import { SMALL, SMALL_MIB, type Mounted } from '../harness/mounted-account.ts'
import type { Program } from '../harness/programs.ts'
import { waitFor } from '../harness/wait.ts'

/** What an outage has at hand. */
export interface OutageStage {
  readonly t: Test
  readonly plane: ControlPlane
  readonly commitlet: Installation
  /** The function that runs. */
  running: Program
  readonly mounted: Readonly<Record<keyof typeof ACCOUNTS, Mounted>>
}

/** What happens while a batch of GitCommits is in the middle of its attempts, and what ends it. */
export interface Outage {
  readonly title: string
  /** Settings of the function. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether the push that is in flight has been carried out by then. */
  readonly when: 'before' | 'after'
  /** Whether the attempts that begin meanwhile can say that they have failed. */
  readonly isReported?: true
  /** Begins the outage; `resume` lets the push that is in flight go on; the result ends the outage. */
  readonly begin: (stage: OutageStage, resume: () => void) => Promise<() => Promise<unknown>>
}

const MINUTE = 60_000
const FILL_MS = 20
const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1'
const LIMIT = 'commitlet-limited'

function restarted(server: 'etcd' | 'apiServer', signal: 'SIGKILL' | 'SIGTERM'): Outage['begin'] {
  return async ({ plane }, resume) => {
    // The function finds nobody when it reports.
    const meanwhile = (): Promise<void> => {
      resume()
      return Promise.resolve()
    }
    await plane.restart(server, { signal, meanwhile })
    return () => Promise.resolve()
  }
}

/** How many calls the API server has answered with 429. */
async function refusedCalls({ plane }: OutageStage): Promise<number> {
  const { body } = await plane.api.ask('GET', '/metrics')
  const lines = String(body).match(
    new RegExp(`^apiserver_flowcontrol_rejected_requests_total\\{.*"${LIMIT}".*$`, 'gm'),
  )
  return (lines ?? []).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Priority and fairness gives the function's account no seat at all. */
async function limitCalls(stage: OutageStage, resume: () => void): Promise<() => Promise<unknown>> {
  const { api } = stage.plane
  await api.need('POST', `${FLOW}/prioritylevelconfigurations`, {
    metadata: { name: LIMIT },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
    },
  })
  await api.need('POST', `${FLOW}/flowschemas`, {
    metadata: { name: LIMIT },
    spec: {
      priorityLevelConfiguration: { name: LIMIT },
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [
            { kind: 'ServiceAccount', serviceAccount: { name: ACCOUNTS.function, namespace: SYSTEM } },
          ],
          resourceRules: [
            { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true },
          ],
        },
      ],
    },
  })
  const isLimited = async () => ((await refusedCalls(stage)) > 0 ? true : undefined)
  // A claim is renewed every 10 s.
  await waitFor('call that is answered with 429', isLimited, MINUTE)
  resume()
  return async () => {
    await api.need('DELETE', `${FLOW}/flowschemas/${LIMIT}`)
    await api.need('DELETE', `${FLOW}/prioritylevelconfigurations/${LIMIT}`)
  }
}

/** A token is refused before there is another one, as where a kubelet is late. */
async function expire({ mounted }: OutageStage, resume: () => void): Promise<() => Promise<unknown>> {
  await Promise.all(Object.values(mounted).map((account) => account.invalidate('last')))
  resume()
  return () => Promise.all(Object.values(mounted).map((account) => account.renew()))
}

/** The API server gets a certificate of a new authority before the pods have that. */
async function replaceAuthority(
  { plane, mounted }: OutageStage,
  resume: () => void,
): Promise<() => Promise<unknown>> {
  const authority = await makeAuthority('The next control plane')
  await plane.restart('apiServer', { authority })
  resume()
  return () => Promise.all(Object.values(mounted).map((account) => account.renew(authority.certPEM)))
}

/** No byte is left in the folder for temporary files: what attempts give back is taken, too. */
async function fillFolder({ running }: OutageStage, resume: () => void): Promise<() => Promise<unknown>> {
  const file = `/proc/${running.pid}/root${SMALL}/filling`
  const fill = (): Promise<void> => appendFile(file, Buffer.alloc(SMALL_MIB * 2 ** 20)).catch(() => undefined)
  await fill()
  const filling = setInterval(() => void fill(), FILL_MS)
  resume()
  return async () => {
    clearInterval(filling)
    // One that has begun ends before the file is removed.
    await fill()
    await rm(file)
  }
}

/** The function is asked to end, and a new one is started. */
async function terminate(stage: OutageStage, resume: () => void): Promise<() => Promise<unknown>> {
  const ended = stage.running.stop(MINUTE)
  await stage.running.waitForLine((line) => line.includes('"draining"'))
  resume()
  stage.t.equal(await ended, 0)
  stage.running = await stage.commitlet.startFunction()
  return () => Promise.resolve()
}

/** Everything around the function that fails for a while. */
export const OUTAGES: readonly Outage[] = [
  { title: 'the API server is killed', when: 'after', begin: restarted('apiServer', 'SIGKILL') },
  { title: 'the API server is stopped', when: 'before', begin: restarted('apiServer', 'SIGTERM') },
  { title: 'etcd is killed', when: 'after', begin: restarted('etcd', 'SIGKILL') },
  { title: 'the API server answers 429', when: 'after', begin: limitCalls },
  { title: 'the token expires', when: 'after', begin: expire },
  { title: "the API server's authority is replaced", when: 'after', begin: replaceAuthority },
  {
    ...{ title: 'the folder for temporary files is full', when: 'before', begin: fillFolder },
    ...{ env: { GIT_ENGINE: 'binary', TMPDIR: SMALL }, isReported: true },
  } as const,
  { title: 'the function is stopped in a batch', when: 'before', begin: terminate },
]
