import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import { API_VERSION } from '../../functions/domain/resource/api-names.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { gitBranches } from '../../test/harness/hosts/git-branches.ts'
import { github } from '../../test/harness/hosts/github.ts'
import { memoryModel } from '../../test/harness/hosts/model.ts'
import type { HostModel } from '../../test/harness/hosts/model.ts'
import { memoryCluster, type MemoryCluster, type StoredObject } from '../../test/harness/memory-cluster.ts'
import { waitFor } from '../../test/harness/wait.ts'
import { create } from '../admission.ts'
import { readObjects } from '../examples.ts'
import { startWebhook } from '../parts.ts'
import type { Printer } from '../print.ts'
import type { Stage } from '../run.ts'
import { NAMESPACE, openSite, type Site } from '../site.ts'
import { startFunctionProcess, type FunctionProcess } from './function-process.ts'

/** The user who applies the files: the name that the API server would send. */
const USERNAME = 'developer@example.com'
const SETTLED_MS = 30_000
/** A claim holds for 30 s after its last renewal. */
const LAPSE_MS = 40_000
const FILES = {
  'values.yaml': '# Edited by people, too.\nimage:\n  tag: 1.4.2 # as tested on Monday\nreplicas: 2\n',
  'old.txt': 'Winter sale!\n',
}

/** A resource as it ended, and the milliseconds from the apply to that. */
export interface Ending {
  readonly resource: Envelope
  readonly message: string
  readonly milliseconds: number
}

/** What the acts play with. Everything throws one sentence if it did not go as the story says. */
export interface StoryStage {
  readonly print: Printer
  readonly site: Site
  readonly host: HostModel
  readonly cluster: MemoryCluster
  readonly function: () => FunctionProcess
  /** The text of a file of the story, as it is applied. */
  readonly read: (file: string) => Promise<string>
  /** Applies a file; returns the webhook's sentence if it denies one of its objects. */
  readonly apply: (file: string) => Promise<string | undefined>
  /** Changes what the file holds, of which an event tells the function, as Knative's ApiServerSource does. */
  readonly change: (file: string) => Promise<void>
  readonly stored: (kind: Kind, name: string) => Envelope
  /** Waits for an attempt to succeed, with another commit than `before`; times count from the last apply or change. */
  readonly succeeded: (kind: Kind, name: string, before?: string) => Promise<Ending>
  /** Starts the function again after a kill, when its claims have lapsed: the cluster's clock is set ahead. */
  readonly startAgain: () => Promise<void>
}

/** Starts the Git server with the API of a stand-in for a host, the webhook, and the function in its own process. */
export async function openStory({ print, leftovers }: Stage): Promise<StoryStage> {
  const site = await openSite(leftovers, FILES)
  const host: HostModel = {
    ...memoryModel({ repository: site.repository.name.split('/') }),
    branches: gitBranches(site.repository),
    tokens: new Map([[site.token, 'write']]),
  }
  site.server.serveAPI(github, host)
  let aheadMs = 0
  const cluster = { ...memoryCluster(), now: () => new Date(Date.now() + aheadMs) }
  const start = (port: number): Promise<FunctionProcess> => {
    const { folder, caFile, stampKeyFile } = site
    return startFunctionProcess({ site: { folder, caFile, stampKeyFile }, port, aheadMs }, cluster, leftovers)
  }
  let running = await start(0)
  const webhook = await startWebhook(running.url, { cluster, site, leftovers }, { SWEEP_INTERVAL: '1' })
  cluster.apply({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', namespace: NAMESPACE } },
    stringData: { token: site.token },
  })
  const admission = { cluster, webhook, caPEM: site.authority.certPEM, username: USERNAME }
  let applied = performance.now()

  const stored: StoryStage['stored'] = (kind, name) => envelopeOf(cluster.get(kind, NAMESPACE, name))

  async function read(file: string): Promise<string> {
    const text = await readFile(join(import.meta.dirname, file), 'utf8')
    return text.replaceAll('git.example.com', site.host)
  }
  return {
    print,
    site,
    host,
    cluster,
    function: () => running,
    read,
    async apply(file) {
      const objects = readObjects(file, await read(file))
      applied = performance.now()
      for (const object of objects) {
        const named = { ...object, metadata: { namespace: NAMESPACE, ...object.metadata } }
        if (object.apiVersion !== API_VERSION) cluster.apply(named)
        else {
          const { denial } = await create(named, admission)
          if (denial !== undefined) return denial
        }
      }
      return undefined
    },
    async change(file) {
      const objects = readObjects(file, await read(file))
      applied = performance.now()
      for (const object of objects)
        await tell(
          running.url,
          cluster.apply({ ...object, metadata: { namespace: NAMESPACE, ...object.metadata } }),
        )
    },
    stored,
    async succeeded(kind, name, before) {
      const settled = (): Envelope | undefined => {
        const resource = stored(kind, name)
        const { phase, commit } = resource.status ?? {}
        const isNew = before === undefined || commit?.sha !== before
        return phase === 'Failed' || (phase === 'Succeeded' && isNew) ? resource : undefined
      }
      const resource = await waitFor(`result of the ${kind} ${name}`, settled, SETTLED_MS)
      const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready')
      const message = ready?.message ?? ''
      if (ready?.status !== 'True') throw new Error(`The ${kind} ${name} did not succeed: ${message}`)
      return { resource, message, milliseconds: performance.now() - applied }
    },
    async startAgain() {
      const { port } = new URL(running.url)
      aheadMs += LAPSE_MS
      running = await start(Number(port))
    },
  }
}

/** Sends the event of an ApiServerSource in resource mode. */
async function tell(url: string, object: StoredObject): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': randomUUID(),
    'ce-source': 'https://10.0.0.1:443',
    'ce-type': 'dev.knative.apiserver.resource.update',
  }
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(object) })
  if (status !== 202) throw new Error(`The function answered the event of the change with ${status}.`)
}
