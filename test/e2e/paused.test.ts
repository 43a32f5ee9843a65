import t from 'tap'
import { accountConfigs } from '../harness/accounts.ts'
import { startApiRelay } from '../harness/api-relay.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { github } from '../harness/hosts/github.ts'
import { gitCommit, install } from '../harness/installation.ts'
import type { Program } from '../harness/programs.ts'
import { processesIn } from '../harness/processes.ts'
import { startRelay } from '../harness/relay.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { HEAD, hostRepository } from './pull-request-stage.ts'

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
  /** The request that is held up: to the Git server, or the status that the function writes, by its phase. */
  readonly exchange: 'upload-pack' | 'receive-pack' | 'receive-pack-refs' | 'Progressing' | 'Succeeded'
  readonly when: 'before' | 'after'
  /** `first`: what is there already, so that whoever takes over has nothing to push, and no lease guards the branch. */
  readonly last: 'first' | 'third'
  /** Whether the commit of the second state has landed. */
  readonly pushes: boolean
  /** Whether its attempt says that another one has taken over; left out: it may not have begun. */
  readonly isOvertaken?: true
}

const OF_REMOTE: readonly Case[] = (['direct', 'binary'] as const).flatMap((engine) => [
  ...(['third', 'first'] as const).map((last): Case => {
    const name = `${engine}-reads-${last}`
    return { name, engine, exchange: 'upload-pack', when: 'before', last, pushes: false, isOvertaken: true }
  }),
  {
    ...{ name: `${engine}-pushes`, engine, exchange: 'receive-pack', when: 'before', last: 'third' },
    ...{ pushes: false, isOvertaken: true },
  } as const,
  {
    ...{ name: `${engine}-has-pushed`, engine, exchange: 'receive-pack', when: 'after', last: 'third' },
    ...{ pushes: true, isOvertaken: true },
  } as const,
])
const OF_STATUS: readonly Case[] = (['before', 'after'] as const).flatMap((when) => [
  {
    ...{ name: `claims-${when}`, engine: 'direct', exchange: 'Progressing', when, last: 'third' },
    pushes: false,
  } as const,
  {
    ...{ name: `reports-${when}`, engine: 'direct', exchange: 'Succeeded', when, last: 'third' },
    ...{ pushes: true, isOvertaken: true },
  } as const,
])
/** Git goes on by itself while the function stands still. */
const ORPHANED: Case = {
  ...{ name: 'binary-pushes-alone', engine: 'binary', last: 'first' },
  ...{ exchange: 'receive-pack-refs', when: 'before', pushes: false, isOvertaken: true },
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
  t.testdir({})
  const api = await startApiRelay((await accountConfigs(plane)).function, t.testdirName)
  t.teardown(() => api.close())
  const start = async (engine: string, minutes: number): Promise<Program> =>
    commitlet.startFunction({
      ...{
        KUBECONFIG: api.kubeconfig,
        GIT_ENGINE: engine,
        NODE_OPTIONS: wrongBy(minutes),
        TMPDIR: t.testdirName,
      },
      PORT: String(await freePort()),
    })
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

  function hold(one: Case, repository: GitRepository) {
    const { name, exchange, when } = one
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    if (exchange === 'Progressing' || exchange === 'Succeeded') {
      const isStatus = `/namespaces/${team.namespace}/gitcommits/${name}/status`
      const came = api.hold({
        ...{ when, until },
        fits: ({ method, path, body }) =>
          method === 'PATCH' && path.includes(isStatus) && body.includes(`"phase":"${exchange}"`),
      })
      const reached = (): Promise<true> => waitFor(`status of ${name}`, () => came() || undefined, MINUTE)
      return { reached, letGo: () => resolve(undefined) }
    }
    const from = git.requests.length
    git.faults.add({ kind: 'hold', when, until }, { repository: repository.name, exchange, times: 1 })
    const isHeld = (): true | undefined =>
      git.requests
        .slice(from)
        .some((seen) => seen.repository === repository.name && seen.exchange === exchange) || undefined
    const reached = (): Promise<true> => waitFor(`${exchange} of ${name}`, isHeld, MINUTE)
    return { reached, letGo: () => resolve(undefined) }
  }

  /** Pull requests: one that is there in its first state, and one that is being opened. */
  async function openedPulls() {
    const stages = ['pull-reads', 'pull-opens'].map(async (name) => {
      const hosted = await hostRepository(git, { dialect: github, path: `${team.namespace}/${name}` })
      await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
      return { ...hosted, name, of: (title: string) => hosted.pullRequest(name, { title }) }
    })
    const [reads, opens] = await Promise.all(stages)
    if (reads === undefined || opens === undefined) throw new Error('no pull requests')
    await team.apply(reads.of('first'))
    await team.settled(reads.name, 'pullrequest')
    return [
      { ...reads, held: 'GET' },
      { ...opens, held: 'POST' },
    ]
  }

  function holdPull({ name, api, held }: Awaited<ReturnType<typeof openedPulls>>[number]) {
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    let came = false
    const happens = async (): Promise<void> => {
      came = true
      await until
    }
    api.fail({ kind: 'meanwhile', happens }, (method) => method === held)
    const reached = (): Promise<true> => waitFor(`${held} of ${name}`, () => came || undefined, MINUTE)
    return { reached, letGo: () => resolve(undefined) }
  }

  /** Waits until the function that was paused has answered the event for this resource. */
  async function handled(name: string, { url }: Program): Promise<void> {
    const subject = `${team.namespace}/${name}`
    const isAnswer = (one: (typeof relay.answers)[number]): boolean =>
      one.target === url && one.subject === subject
    await waitFor(`answer for ${name}`, () => relay.answers.find(isAnswer), MINUTE)
  }

  /** Waits for its line in the log, which may be read after the answer. */
  async function overtaken(uid: string, program: Program): Promise<void> {
    await program.waitForLine((line) => line.includes(uid) && line.includes('"phase":"overtaken"'), MINUTE)
  }

  t.test(
    'paused for longer than its claim, with clocks that differ, no process writes old after new',
    async (t) => {
      const cases = await Promise.all(
        [...OF_REMOTE, ...OF_STATUS, ORPHANED].map(async (one) => {
          const repository = await git.createRepository(`${team.namespace}/${one.name}`)
          return {
            one,
            repository,
            of: (colour: string, text = colour) => objects(one, repository.url, colour, text),
          }
        }),
      )
      relay.targets.splice(0, 1, other.url)
      const hosted = await openedPulls()
      for (const { of } of cases) await team.apply(...of('first'))
      for (const { one } of cases) await team.settled(one.name)

      const held = cases.map((given) => ({ ...given, ...hold(given.one, given.repository) }))
      const heldPulls = hosted.map(holdPull)
      t.teardown(() => [...held, ...heldPulls].forEach(({ letGo }) => letGo()))
      // At once, and those of the API server last: after 15 s without its answer an attempt goes on.
      for (const [engine, pulls] of [
        ['binary', []],
        ['direct', hosted],
      ] as const) {
        relay.targets.splice(0, 1, paused[engine].url)
        const own = held.filter(({ one }) => one.engine === engine)
        await Promise.all([
          ...own.map(({ of }) => team.apply(...of('second'))),
          ...pulls.map((pull) => team.apply(pull.of('second'))),
        ])
        await Promise.all([...own, ...heldPulls.slice(0, pulls.length)].map(({ reached }) => reached()))
      }
      const pausedAt = performance.now()
      for (const { pid } of Object.values(paused)) process.kill(pid, 'SIGSTOP')
      relay.targets.splice(0, 1, other.url)
      await Promise.all([
        ...cases.map(({ one, of }) => team.apply(...of(one.last, 'third'))),
        ...hosted.map((pull) => team.apply(pull.of('third'))),
      ])
      for (const { one } of cases) t.match((await team.settled(one.name)).status, { phase: 'Succeeded' })
      for (const { name } of hosted)
        t.match((await team.settled(name, 'pullrequest')).status, { phase: 'Succeeded' })
      const took = performance.now() - pausedAt
      t.ok(took < TAKEN_UP_MS, `all were taken up within ${Math.round(took / 1000)} s`)

      const isOver = (): true | undefined => performance.now() - pausedAt > PAUSE_MS || undefined
      await waitFor('end of the pause', isOver, MINUTE)
      const before = await Promise.all(cases.map(({ repository }) => repository.git('rev-parse', 'main')))
      for (const { letGo } of [...held, ...heldPulls]) letGo()
      // Their gits go on without them.
      const areOver = async (): Promise<true | undefined> =>
        (await processesIn(t.testdirName)).length === 0 || undefined
      await waitFor('end of every git', areOver, MINUTE)
      for (const { pid } of Object.values(paused)) process.kill(pid, 'SIGCONT')
      for (const [i, { one, repository }] of cases.entries()) {
        await handled(one.name, paused[one.engine])
        const { metadata, status } = await team.get(one.name)
        if (one.isOvertaken) await overtaken(metadata.uid, paused[one.engine])
        t.equal(await repository.git('rev-parse', 'main'), before[i], `${one.name}: nothing was pushed`)
        t.match(await repository.show(`main:${PATH}`), `colour: ${one.last}`)
        t.match(status, { phase: 'Succeeded', observedGeneration: 3 })
        const second = await repository.git('log', '--format=%H', '--grep=^second$', 'main')
        const commits = second.split('\n').filter(Boolean).length
        t.equal(commits, one.pushes ? 1 : 0, `${one.name}: commits of the second`)
      }
      for (const { name, model } of hosted) {
        await handled(name, paused.direct)
        const { metadata, status } = await team.get(name, 'pullrequest')
        await overtaken(metadata.uid, paused.direct)
        t.match(model.pulls, [{ title: 'third' }])
        t.equal(model.pulls.length, 1)
        t.match(status, { phase: 'Succeeded', observedGeneration: metadata.generation })
      }
    },
  )
})
