import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { ROWS } from '../../manifests/dashboard.ts'
import { member } from '../../functions/domain/json-value.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { startLeashed } from '../harness/leash.ts'
import type { Program } from '../harness/programs.ts'
import { findPrometheus } from '../harness/prometheus.ts'
import { isLong } from '../harness/sample.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { readManifest } from '../manifests/read.ts'

const PATIENCE_MS = 60_000
/** Panels about pull requests: no such host is called here. */
const ELSEWHERE = /commitlet_provider_/

async function metricsPort(program: Program): Promise<number> {
  const line = await program.waitForLine((text) => text.includes('metrics are served'))
  return Number(member(JSON.parse(line), 'metricsPort'))
}

const skip = isLong() ? false : 'Prometheus is for npm run test:long'

t.test('a real Prometheus', { skip }, async (t) => {
  const found = await findPrometheus({ env: process.env, say: (line) => t.comment(line) })
  if ('missing' in found && /no Go/.test(found.missing))
    return void t.pass('Prometheus', { skip: found.missing })
  if ('missing' in found) return void t.fail(found.missing)
  await withControlPlane(t, async (t, plane) => {
    const env = { METRICS_PORT: '0' }
    const commitlet = await install(t, plane, {
      functionEnv: env,
      webhookEnv: { ...env, SWEEP_INTERVAL: '1' },
    })
    const folder = t.testdir({})
    const [{ spec }] = await readManifest('manifests/monitoring/rules.yaml')
    await writeFile(join(folder, 'rules.yaml'), stringify(spec))
    const targets = await Promise.all([commitlet.webhook, commitlet.function].map(metricsPort))
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'commitlet',
          // The labels that the PodMonitors give to the metrics of a pod.
          static_configs: targets.map((port) => ({
            targets: [`127.0.0.1:${port}`],
            labels: { namespace: 'commitlet-system', pod: String(port) },
          })),
        },
      ],
    }
    const file = join(folder, 'prometheus.yaml')
    await writeFile(file, stringify(config))
    const listen = `127.0.0.1:${await freePort()}`
    const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`]
    const server = startLeashed(
      found.prometheus,
      [...flags, `--web.listen-address=${listen}`],
      join(folder, 'log'),
    )
    t.teardown(() => server.stop())

    async function ask(path: string): Promise<unknown> {
      const response = await fetch(`http://${listen}/api/v1/${path}`).catch(() => undefined)
      return response === undefined ? undefined : response.json()
    }
    async function resultsOf(expr: string): Promise<readonly unknown[]> {
      const answer = await ask(`query?query=${encodeURIComponent(expr)}`)
      const result = member(member(answer, 'data'), 'result')
      if (answer !== undefined && member(answer, 'status') !== 'success') t.fail(JSON.stringify(answer))
      return Array.isArray(result) ? result : []
    }

    await t.test('reads both programs, and has something for every panel', async (t) => {
      const both = async () => ((await resultsOf('up == 1')).length === 2 ? true : undefined)
      await waitFor('both targets', both, PATIENCE_MS)
      const team = await commitlet.createTeam()
      const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
      await team.apply(configMap(), gitCommit('shop', repository.url))
      await team.settled('shop')
      const denied = gitCommit('denied', repository.url, { message: 'x\nRequested-by: me' })
      await t.rejects(team.apply(denied))
      for (const { title, queries } of ROWS.flatMap(({ panels }) => panels)) {
        for (const { expr } of queries.filter((query) => !ELSEWHERE.test(query.expr))) {
          const query = expr.replaceAll('$__rate_interval', '5m')
          const some = async () => ((await resultsOf(query)).length > 0 ? true : undefined)
          t.ok(await waitFor(`${title}: ${query}`, some, PATIENCE_MS), title)
        }
      }
    })

    await t.test('evaluates every alert, and none fires', async (t) => {
      const rules = await waitFor(
        'the evaluation of all rules',
        async () => {
          const groups = member(member(await ask('rules'), 'data'), 'groups')
          const all: unknown = Array.isArray(groups) ? member(groups[0], 'rules') : []
          const done =
            Array.isArray(all) && all.length > 0 && all.every((rule) => member(rule, 'health') !== 'unknown')
          return done ? (all as readonly unknown[]) : undefined
        },
        PATIENCE_MS,
      )
      t.equal(rules.length, spec.groups[0].rules.length)
      for (const rule of rules) {
        t.equal(member(rule, 'health'), 'ok', String(member(rule, 'name')))
        t.notMatch(member(rule, 'state'), 'firing', String(member(rule, 'name')))
      }
    })
  })
})
