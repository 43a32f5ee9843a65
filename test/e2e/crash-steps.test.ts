import t from 'tap'
import type { Test } from 'tap'
import { accountConfigs } from '../harness/accounts.ts'
import { startApiRelay } from '../harness/api-relay.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { github } from '../harness/hosts/github.ts'
import { gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Program } from '../harness/programs.ts'
import { startRelay } from '../harness/relay.ts'
import { sample } from '../harness/sample.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { NAME, STEPS, type Step } from './crash-steps.ts'
import { HEAD, hostRepository } from './pull-request-stage.ts'

const PATH = 'shop/settings.yaml'
const OTHER = 'of another writer\n'
const MINUTE = 60_000
/** What a killed process had in hand has succeeded within this time. */
const TAKEN_UP_MS = 60_000
const STEPS_OF_RUN = sample(STEPS, ({ kind }) => kind)

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    webhookEnv: { K_SINK: relay.url, SWEEP_INTERVAL: '3' },
  })
  const folder = t.testdir({})
  const api = await startApiRelay((await accountConfigs(plane)).function, folder)
  t.teardown(() => api.close())
  const { git } = commitlet
  const names = STEPS_OF_RUN.map(({ name }) => name)
  const team = await commitlet.createTeam({ secrets: names })

  /** Holds the request of a step until the test is over: it is never carried out after the kill. */
  function holding(t: Test, { name, held }: Step, stage: Stage) {
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    t.teardown(() => resolve(undefined))
    if (held.at === 'API server') {
      const path = `/namespaces/${team.namespace}${held.path.replace(NAME, name)}`
      const phase = held.phase === undefined ? '' : `"phase":"${held.phase}"`
      return api.hold({
        ...{ when: held.when, until },
        fits: (call) =>
          call.method === held.method &&
          call.path.replace(/\?.*/, '').endsWith(path) &&
          call.body.includes(phase),
      })
    }
    const { repository, host } = stage
    if (held.at === 'Git server') {
      const { exchange, when } = held
      git.faults.add({ kind: 'hold', when, until }, { repository: repository.name, exchange, times: 1 })
      const isIt = (seen: (typeof git.requests)[number]): boolean =>
        seen.repository === repository.name && seen.exchange === exchange
      return () => git.requests.some(isIt)
    }
    let came = false
    async function wait(): Promise<void> {
      came = true
      await until
    }
    const { method, when } = held
    if (when === 'before') host?.fail({ kind: 'meanwhile', happens: wait }, (of) => of === method)
    else
      host?.fail({ kind: 'changed', change: async (answer) => (await wait(), answer) }, (of) => of === method)
    return () => came
  }

  /** A repository for the step, and the API of a host over it for a pull request. */
  async function stageOf(step: Step) {
    const { name, kind } = step
    const path = `${team.namespace}/${name}`
    if (kind === 'GitCommit') {
      const repository = await git.createRepository(path, {
        files: { [PATH]: 'old\n' },
      })
      return { repository, host: undefined, hosted: undefined }
    }
    const hosted = await hostRepository(git, { dialect: github, path }, { tokens: [tokenOf(step)] })
    await hosted.repository.commit(HEAD, { [PATH]: 'new\n' })
    return { repository: hosted.repository, host: hosted.api, hosted }
  }

  // Of one token, a host's API gets one request after the other.
  function tokenOf({ name, kind }: Step): string {
    return kind === 'PullRequest' ? `${TOKEN}-${name}` : TOKEN
  }

  type Stage = Awaited<ReturnType<typeof stageOf>>

  function resourceOf({ name, also }: Step, { repository, hosted }: Stage): object {
    const credentials = { secretName: name, tokenKey: 'token' }
    const resourceRef = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      path: PATH,
    }
    const resource =
      hosted?.pullRequest(name, { credentials }) ??
      gitCommit(name, repository.url, {
        branch: 'main',
        resourceRef,
        credentials,
      })
    const annotations = also === 'request' ? { 'commitlet.dev/requested-at': 'now' } : {}
    return { ...resource, metadata: { name, annotations } }
  }

  async function startVictim(engine: Step['engine']): Promise<Program> {
    const PORT = String(await freePort())
    return commitlet.startFunction({
      KUBECONFIG: api.kubeconfig,
      GIT_ENGINE: engine,
      TMPDIR: folder,
      PORT,
    })
  }

  t.test('killed at any step, the function does each exactly once, and in time', async (t) => {
    // A process has places for a few attempts of a namespace.
    const partOf = ({ engine, kind, held }: Step): string => [engine, kind, held.at].join()
    const parts = [...Map.groupBy(STEPS_OF_RUN, partOf).values()]
    const victims = await Promise.all(parts.map((steps) => startVictim(steps[0]?.engine ?? 'direct')))
    async function reach({ step, stage }: { readonly step: Step; readonly stage: Stage }): Promise<void> {
      const { name } = step
      const reached = holding(t, step, stage)
      await team.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name },
          stringData: { token: tokenOf(step) },
        },
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data: { colour: 'blue' },
        },
        resourceOf(step, stage),
      )
      await waitFor(`step ${name}`, () => reached() || undefined, MINUTE)
    }
    const killed = await Promise.all(
      STEPS_OF_RUN.map(async (step) => ({
        step,
        stage: await stageOf(step),
      })),
    )
    // Soon: an attempt gives a call of the API server up after 15 s.
    for (const [i, steps] of parts.entries()) {
      relay.targets.splice(0, relay.targets.length, victims[i]?.url ?? '')
      await Promise.all(killed.filter(({ step }) => steps.includes(step)).map(reach))
    }
    const others = new Map<string, string>()
    for (const { step, stage } of killed) {
      const { repository } = stage
      const { held, name } = step
      if (held.at === 'Git server' && held.exchange === 'receive-pack' && held.when === 'after') {
        const moved = async () => ((await repository.log('main')).length > 1 ? true : undefined)
        await waitFor(`push of ${name}`, moved, MINUTE)
      }
      if (held.at === 'host' && held.when === 'after') t.equal(stage.hosted?.model.pulls.length, 1, name)
      if (step.also === 'another writer') others.set(name, await repository.commit('main', { [PATH]: OTHER }))
    }
    await Promise.all(victims.map((victim) => victim.kill()))
    const killedAt = performance.now()
    relay.targets.splice(0, relay.targets.length, commitlet.function.url)

    for (const { step, stage } of killed) {
      const { name, kind } = step
      const { metadata, status } = await team.settled(name, kind.toLowerCase())
      t.match(status, { phase: 'Succeeded' }, name)
      if (kind === 'PullRequest') {
        t.equal(stage.hosted?.model.pulls.length, 1, `${name}: one pull request`)
        t.match(status, { pullRequest: { number: 1 } })
        continue
      }
      const log = ['log', '--all', '--format=%H', `--grep=^Commitlet-Id: ${metadata.uid}.`]
      const commits = (await stage.repository.git(...log)).split('\n')
      t.equal(commits.length, 1, `${name}: one commit`)
      t.match(status, { commit: { sha: commits[0] } })
      const other = others.get(name)
      t.equal(
        await stage.repository.git('rev-parse', 'main'),
        other ?? commits[0],
        `${name}: the last writer wins`,
      )
    }
    const seconds = (performance.now() - killedAt) / 1000
    t.ok(seconds * 1000 < TAKEN_UP_MS, `all succeeded ${seconds.toFixed(1)} s after the kill`)
    t.comment(`${killed.length} steps; all succeeded ${seconds.toFixed(1)} s after the kill`)
  })
})
