import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { ControlPlane, Ran } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { findBinaries } from '../harness/control-plane-binaries.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { until } from '../harness/rights.ts'
import type { Team } from '../harness/team.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The command blocks of a page below this heading. */
function commandsOf(page: string, heading: string): readonly string[] {
  const [, below = ''] = readFileSync(join(ROOT, page), 'utf8').split(`\n${heading}\n`)
  const [section = ''] = below.split('\n## ')
  return [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands ?? '')
}

/** Runs commands in a shell whose kubectl is that of the control plane, in this namespace. */
async function runner(plane: ControlPlane): Promise<(commands: string, namespace?: string) => Promise<Ran>> {
  const found = await findBinaries({ env: process.env, say: () => undefined })
  const path = 'missing' in found ? '' : dirname(found.kubectl)
  const env = { ...process.env, PATH: `${path}:${process.env['PATH']}`, KUBECONFIG: plane.kubeconfig }
  return (commands, namespace) =>
    new Promise((resolve) => {
      const inNamespace =
        namespace === undefined ? '' : `kubectl() { command kubectl -n ${namespace} "$@"; }\n`
      execFile('sh', ['-c', inNamespace + commands], { env, cwd: ROOT }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
}

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane)
    const run = await runner(plane)
    const [wait = '', ask = ''] = commandsOf('docs/troubleshooting.md', '## In a pipeline')

    async function teamWith(spec: Readonly<Record<string, unknown>> = {}): Promise<Team> {
      const team = await commitlet.createTeam()
      const repository = await commitlet.git.createRepository(team.namespace)
      await team.apply(configMap(), gitCommit('shop-settings', repository.url, spec))
      return team
    }

    t.test('a pipeline waits for what it has applied, and for what it has requested', async (t) => {
      const team = await teamWith()
      const { code, stdout, stderr } = await run(wait, team.namespace)
      t.equal(code, 0, stderr)
      t.match(stdout, /^Committed as [0-9a-f]{12} /)
      await team.apply(configMap({ colour: 'green' }))
      const again = await run(`name=shop-settings\n${ask}\n${wait}`, team.namespace)
      t.equal(again.code, 0, again.stderr)
      t.match(again.stdout, /\nCommitted as [0-9a-f]{12} /)
      t.notMatch(again.stdout, stdout.trim(), 'a second commit')
    })

    t.test('a pipeline gets the failure and its reason', async (t) => {
      const team = await teamWith()
      await team.settled('shop-settings')
      const change = '{"spec":{"resourceRef":{"path":"shop/settings.yaml/more.yaml"}}}'
      await team.kubectl(['patch', 'gitcommit', 'shop-settings', '--type=merge', '-p', change])
      const began = performance.now()
      const { code, stdout } = await run(wait, team.namespace)
      t.equal(code, 1)
      t.match(stdout, /shop\/settings\.yaml/)
      t.ok(performance.now() - began < 60_000, 'before the end of its five minutes')
    })

    t.test(
      'the first GitCommit of the README, after the installation and with the rights first',
      async (t) => {
        const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
        t.ok(text.indexOf('\n## Install\n') < text.indexOf('\n## A first GitCommit\n'))
        const [rights = '', applying = ''] = commandsOf('README.md', '## A first GitCommit')
        const folder = t.testdir({})
        const here = (commands: string): string =>
          commands
            .replaceAll('../commitlet-examples', join(folder, 'examples'))
            .replaceAll(/(-n|namespace) shop$/gm, '$1 readme')
            .replaceAll('-n shop ', '-n readme ')
        const given = await run(here(rights))
        t.equal(given.code, 0, given.stderr)
        const { code, stdout, stderr } = await run(here(applying))
        t.equal(code, 0, stderr)
        t.match(stdout, /gitcommit\.commitlet\.dev\/shop-settings created/)
        const may = (verb: string, who: string): Promise<Ran> =>
          run(`kubectl -n readme auth can-i ${verb} secrets/git-credentials ${who}`)
        const asFunction = '--as=system:serviceaccount:commitlet-system:commitlet-function'
        t.match(await until('right', () => may('get', asFunction), /yes/), { code: 0 })
        t.match(await may('use', '--as=dev --as-group=developers'), { stdout: /yes/ })
      },
    )

    t.test(
      'the first GitCommit of the installation page, by an administrator and by a developer',
      async (t) => {
        const [rights = '', admin = '', developer = ''] = commandsOf(
          'docs/install.md',
          '## 4. A namespace, and a first GitCommit',
        )
        const here = (commands: string): string => commands.replaceAll('../commitlet-examples', 'examples')
        t.equal((await run(rights)).code, 0)
        // No controller aggregates "view" here, and the Git host of the example does not exist.
        const readers = 'kubectl -n shop create role readers --verb=get --resource=configmaps'
        const bound = 'kubectl -n shop create rolebinding readers --role=readers --group=developers'
        await run(`${readers} && ${bound}`)
        const applying = admin.split('\n').filter((line) => line.includes(' apply '))
        const applied = await run(here(applying.join(' && ')))
        t.equal(applied.code, 0, applied.stderr)
        const secret = await plane.kubectl(['-n', 'shop', 'get', 'secret', 'git-credentials', '-o', 'yaml'])
        t.notMatch(secret.stdout, 'last-applied')
        const asJane = await until('right', () => run(here(developer)), /configured/)
        t.match(asJane.stdout, 'gitcommit.commitlet.dev/shop-settings configured')
        const by = 'jsonpath={.metadata.annotations.commitlet\\.dev/requested-by}'
        const read = await plane.kubectl(['-n', 'shop', 'get', 'gitcommit', 'shop-settings', '-o', by])
        t.equal(read.stdout, 'dev')
      },
    )
  },
  { own: true },
)
