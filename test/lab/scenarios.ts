import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '../harness/wait.ts'
import type { Stage } from './stage.ts'

const COMMITS = '/apis/commitlet.dev/v1/namespaces/shop/gitcommits'
const PODS =
  '/api/v1/namespaces/commitlet-system/pods?labelSelector=serving.knative.dev%2Fservice%3Dcommitlet-function'
const ZERO_MS = 180_000
const LANDING_MS = 60_000

/** No pod of the function is left. */
export async function atZero({ plane }: Stage): Promise<number> {
  const began = performance.now()
  await waitFor(
    'end of the function',
    async () => {
      const { items } = (await plane.api.need('GET', PODS)) as { readonly items: readonly unknown[] }
      return items.length === 0 ? true : undefined
    },
    ZERO_MS,
  )
  return performance.now() - began
}

/** Milliseconds from the answer to the apply until the branch has moved, as the file system tells. */
export async function commitOnce({ plane, repository }: Stage, name: string): Promise<number> {
  const branch = join(repository.path, 'refs/heads/main')
  const before = await movedAt(branch)
  await plane.api.need('POST', COMMITS, gitCommit(name))
  const stored = performance.timeOrigin + performance.now()
  const isMoved = async (): Promise<number | undefined> => {
    const at = await movedAt(branch)
    return at === before ? undefined : at
  }
  const at = await waitFor(`commit of ${name}`, isMoved, LANDING_MS).catch(async (error: unknown) => {
    throw new Error(`${String(error)} ${await explain(plane, name)}`)
  })
  return at - stored
}

async function explain(plane: Stage['plane'], name: string): Promise<string> {
  const { status } = (await plane.api.need('GET', `${COMMITS}/${name}`)) as { readonly status?: unknown }
  return JSON.stringify(status)
}

/** In milliseconds since 1970; 0 where there is no such branch. */
function movedAt(branch: string): Promise<number> {
  return stat(branch).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

/** A GitCommit of the ConfigMap of the examples, to a path of its own. */
export function gitCommit(name: string): object {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { name },
    spec: {
      repository: 'https://git.example.com/acme/config.git',
      branch: 'main',
      message: `Record ${name}`,
      credentials: { secretName: 'git-credentials', tokenKey: 'token' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop-settings', path: `lab/${name}.yaml` },
    },
  }
}

/** A burst during which a new revision takes the place of the old one. */
export async function changeRevision(stage: Stage, prefix: string, count: number): Promise<Burst> {
  const { plane } = stage
  const name = 'commitlet-function'
  const before = await readyRevision(plane)
  const patch = JSON.stringify({
    spec: { template: { metadata: { annotations: { 'lab/change': prefix } } } },
  })
  const applied = burst(stage, prefix, count)
  const changed = plane
    .kubectl(['-n', 'commitlet-system', 'patch', 'ksvc', name, '--type=merge', '-p', patch])
    .then(() =>
      waitFor('new revision', async () => (await readyRevision(plane)) !== before || undefined, LANDING_MS),
    )
  const [all] = await Promise.all([applied, changed])
  return all
}

async function readyRevision(plane: Stage['plane']): Promise<string> {
  const of = ['-n', 'commitlet-system', 'get', 'ksvc', 'commitlet-function']
  return (await plane.kubectl([...of, '-o', 'jsonpath={.status.latestReadyRevisionName}'])).stdout
}

/** Milliseconds until all were Ready, and pushes. */
export interface Burst {
  readonly ms: number
  readonly pushes: number
}

/** Applies so many GitCommits at once. Throws where one of them is not in the history, or twice. */
export async function burst(
  { plane, git, repository }: Stage,
  prefix: string,
  count: number,
): Promise<Burst> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  const known = git.requests.length
  const began = performance.now()
  const todo = [...names]
  async function applyNext(): Promise<void> {
    for (let name = todo.shift(); name !== undefined; name = todo.shift())
      await plane.api.need('POST', COMMITS, gitCommit(name))
  }
  await Promise.all(Array.from({ length: 16 }, applyNext))
  await waitFor(`${count} Ready GitCommits`, () => allReady(plane, names), LANDING_MS * 2)
  const ms = performance.now() - began
  const pushes = git.requests
    .slice(known)
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/git-receive-pack')).length
  const subjects = (await repository.log('main')).filter((line) => line.startsWith(`Record ${prefix}-`))
  if (new Set(subjects).size !== count || subjects.length !== count)
    throw new Error(
      `Of ${count} commits there are ${subjects.length}, ${new Set(subjects).size} of them different.`,
    )
  return { ms, pushes }
}

interface Listed {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly phase?: string }
}

async function allReady(plane: Stage['plane'], names: readonly string[]): Promise<true | undefined> {
  const { items } = (await plane.api.need('GET', COMMITS)) as { readonly items: readonly Listed[] }
  const done = new Set(
    items.filter(({ status }) => status?.phase === 'Succeeded').map(({ metadata }) => metadata.name),
  )
  return names.every((name) => done.has(name)) || undefined
}
