import t from 'tap'
import { ROWS } from '../../manifests/dashboard.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Program } from '../harness/programs.ts'
import { waitFor } from '../harness/wait.ts'

/** Panels about pull requests: no such host is called here. */
const ELSEWHERE = /^commitlet_provider_/
/** Before the first series of a query, a function or a bracket; after it, labels, a range or the end. */
const SERIES = /\b((?:commitlet|process)_\w+)/g

/** The lines of `/metrics` that have a value, without their descriptions. */
async function scrape(program: Program): Promise<readonly string[]> {
  const line = await program.waitForLine((text) => text.includes('metrics are served'))
  const port: unknown = JSON.parse(line).metricsPort
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
  return text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))
}

withControlPlane(t, async (t, plane) => {
  const env = { METRICS_PORT: '0' }
  const commitlet = await install(t, plane, { functionEnv: env, webhookEnv: { ...env, SWEEP_INTERVAL: '1' } })

  t.test('a real run exposes every metric of the dashboard, and nothing of a tenant', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
    await team.apply(configMap(), gitCommit('shop', repository.url))
    await team.settled('shop')
    await team.apply(gitCommit('lost', repository.url.replace('/config', '/nowhere')))
    const denied = gitCommit('denied', repository.url, { message: 'x\nRequested-by: me' })
    await t.rejects(team.apply(denied))
    const seen = await waitFor(
      'a sweep and the end of both attempts',
      async () => {
        const lines = [...(await scrape(commitlet.webhook)), ...(await scrape(commitlet.function))]
        const has = (start: string): boolean => lines.some((line) => line.startsWith(start))
        const isOver =
          has('commitlet_attempts_total{kind="GitCommit",reason="RepositoryNotFound"') &&
          has('commitlet_sweep_finished_timestamp_seconds{sweep="unsettled"}')
        return isOver ? lines : undefined
      },
      60_000,
    )
    const names = new Set(seen.map((line) => line.replace(/[{ ].*$/, '')))
    for (const { title, queries } of ROWS.flatMap(({ panels }) => panels)) {
      const series = queries.flatMap(({ expr }) => [...expr.matchAll(SERIES)].map(([, name = '']) => name))
      for (const name of series.filter((one) => !ELSEWHERE.test(one)))
        t.ok(names.has(name), `${title}: ${name}`)
    }
    const lines = seen.join('\n')
    t.match(
      lines,
      'commitlet_attempts_total{kind="GitCommit",reason="Succeeded",provider="other",engine="direct"} 1',
    )
    t.match(lines, /^commitlet_git_bytes_total\{direction="sent"\} [1-9]/m)
    t.match(lines, /^commitlet_commits_per_push_sum\{engine="direct"\} 1$/m)
    t.match(lines, /^commitlet_ready_duration_seconds_count\{kind="GitCommit",provider="other"\} 1$/m)
    t.match(
      lines,
      /^commitlet_admission_denials_total\{webhook="mutate",kind="GitCommit",reason="InvalidSpec"\} 1$/m,
    )
    for (const own of [team.namespace, 'config', 'shop', 'admin', 'localhost']) t.notMatch(lines, own)
  })
})
