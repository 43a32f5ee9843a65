import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { gitCommit, install } from '../harness/installation.ts'
import type { Program } from '../harness/programs.ts'
import { processesIn } from '../harness/processes.ts'
import { startRelay } from '../harness/relay.ts'
import { freePort, waitFor } from '../harness/wait.ts'

const PATH = 'shop/settings.yaml'
const MINUTE = 60_000
/** Longer than a claim, and than any time for which one counts as confirmed. */
const PAUSE_MS = 40_000
/** A process that is gone is replaced within this time. */
const TAKEN_UP_MS = 60_000

/** Where an attempt is when its process is stopped, and what the branch has to hold in the end. */
interface Case {
  readonly name: string
  readonly engine: 'direct' | 'binary'
  readonly exchange: 'upload-pack' | 'receive-pack' | 'receive-pack-refs'
  readonly when: 'before' | 'after'
  /** `first`: what is there already, so that whoever takes over has nothing to push, and no lease guards the branch. */
  readonly last: 'first' | 'third'
}

const CASES: readonly Case[] = (['direct', 'binary'] as const).flatMap((engine) => [
  { name: `${engine}-reads`, engine, exchange: 'upload-pack', when: 'before', last: 'third' },
  { name: `${engine}-reads-alone`, engine, exchange: 'upload-pack', when: 'before', last: 'first' },
  { name: `${engine}-has-pushed`, engine, exchange: 'receive-pack', when: 'after', last: 'third' },
])
/** Git goes on by itself while the function stands still. */
const ORPHANED: Case = {
  ...{ name: 'binary-pushes', engine: 'binary', last: 'first' },
  ...{ exchange: 'receive-pack-refs', when: 'before' },
}

/** NODE_OPTIONS of a process whose clock is wrong by so many minutes. */
function wrongBy(minutes: number): string {
  const code = `const Right = Date; globalThis.Date = class extends Right {
    constructor(...parts) { super(...(parts.length > 0 ? parts : [Right.now() + ${minutes * 60_000}])) }
    static now() { return Right.now() + ${minutes * 60_000} }
  }`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    webhookEnv: { K_SINK: relay.url, SWEEP_INTERVAL: '3', NODE_OPTIONS: wrongBy(-10) },
  })
  const start = async (engine: string, minutes: number): Promise<Program> =>
    commitlet.startFunction({
      ...{ GIT_ENGINE: engine, NODE_OPTIONS: wrongBy(minutes), TMPDIR: t.testdirName },
      PORT: String(await freePort()),
    })
  t.testdir({})
  const { git } = commitlet
  const other = commitlet.function
  const paused = { direct: await start('direct', 10), binary: await start('binary', -10) }
  const team = await commitlet.createTeam()

  /** The content and the resource of a case, in their first, second or third state. */
  function objects({ name }: Case, url: string, colour: string, message: string): readonly object[] {
    return [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour } },
      gitCommit(name, url, {
        message,
        branch: 'main',
        resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name, path: PATH },
      }),
    ]
  }

  function hold({ name, exchange, when }: Case, repository: GitRepository) {
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    const from = git.requests.length
    git.faults.add({ kind: 'hold', when, until }, { repository: repository.name, exchange, times: 1 })
    const isHeld = (): true | undefined =>
      git.requests
        .slice(from)
        .some((seen) => seen.repository === repository.name && seen.exchange === exchange) || undefined
    const reached = (): Promise<true> => waitFor(`${exchange} of ${name}`, isHeld, MINUTE)
    return { reached, letGo: () => resolve(undefined) }
  }

  t.test(
    'paused for longer than its claim, with clocks that differ, no process writes old after new',
    async (t) => {
      const cases = await Promise.all(
        [...CASES, ORPHANED].map(async (one) => {
          const repository = await git.createRepository(`${team.namespace}/${one.name}`)
          return {
            one,
            repository,
            of: (colour: string, text = colour) => objects(one, repository.url, colour, text),
          }
        }),
      )
      relay.targets.splice(0, 1, other.url)
      for (const { of } of cases) await team.apply(...of('first'))
      for (const { one } of cases) await team.settled(one.name)

      const held = cases.map(({ one, repository }) => hold(one, repository))
      t.teardown(() => held.forEach(({ letGo }) => letGo()))
      for (const engine of ['direct', 'binary'] as const) {
        relay.targets.splice(0, 1, paused[engine].url)
        for (const [i, { one, of }] of cases.entries()) {
          if (one.engine !== engine) continue
          await team.apply(...of('second'))
          await held[i]?.reached()
        }
      }
      const pausedAt = performance.now()
      for (const { pid } of Object.values(paused)) process.kill(pid, 'SIGSTOP')
      relay.targets.splice(0, 1, other.url)
      for (const { one, of } of cases) await team.apply(...of(one.last, 'third'))
      for (const { one } of cases) t.match((await team.settled(one.name)).status, { phase: 'Succeeded' })
      const took = performance.now() - pausedAt
      t.ok(took < TAKEN_UP_MS, `all were taken up within ${Math.round(took / 1000)} s`)

      const isOver = (): true | undefined => performance.now() - pausedAt > PAUSE_MS || undefined
      await waitFor('end of the pause', isOver, MINUTE)
      const before = await Promise.all(cases.map(({ repository }) => repository.git('rev-parse', 'main')))
      for (const { letGo } of held) letGo()
      // Their gits go on without them.
      const areOver = async (): Promise<true | undefined> =>
        (await processesIn(t.testdirName)).length === 0 || undefined
      await waitFor('end of every git', areOver, MINUTE)
      for (const { pid } of Object.values(paused)) process.kill(pid, 'SIGCONT')
      for (const [i, { one, repository }] of cases.entries()) {
        const { metadata, status } = await team.get(one.name)
        const { lines } = paused[one.engine]
        const isEnd = (line: string): boolean =>
          line.includes(metadata.uid) && line.includes('"generation":2')
        t.match(JSON.parse(await waitFor(`end of ${one.name}`, () => lines.find(isEnd), MINUTE)), {
          phase: 'overtaken',
        })
        t.equal(await repository.git('rev-parse', 'main'), before[i], `${one.name}: nothing was pushed`)
        t.match(await repository.show(`main:${PATH}`), `colour: ${one.last}`)
        t.match(status, { phase: 'Succeeded', observedGeneration: 3 })
        const second = await repository.git('log', '--format=%H', '--grep=^second$', 'main')
        t.equal(
          second.split('\n').filter(Boolean).length,
          one.when === 'after' ? 1 : 0,
          `${one.name}: commits of the second`,
        )
      }
    },
  )
})
