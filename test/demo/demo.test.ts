import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { folderWith, ROOT, startDemo } from './run-demo.ts'

const EXAMPLES = ['shop-settings', 'shop-deployment', 'shop-features']

t.test('the demo turns the three examples into commits and leaves nothing behind', async (t) => {
  const demo = await startDemo(t, [], { env: { LOG_LEVEL: 'warn' } })
  const { code, stdout, stderr } = await demo.ended
  t.equal(stderr, '', 'both parts know the stamp key, and neither has anything to warn of')
  t.equal(code, 0)
  for (const name of EXAMPLES) {
    t.match(stdout, `gitcommit/${name}: allowed by the webhook`)
    t.match(stdout, new RegExp(`^${name} +True +Succeeded +\\S+ +[0-9a-f]{12} +Committed as`, 'm'))
    t.match(stdout, new RegExp(`^    Commitlet-Resource: demo/${name}\n    Commitlet-Id: \\S+\\.1\n`, 'm'))
  }
  t.match(stdout, 'Author: Commitlet <commitlet@users.noreply.local>')
  t.match(stdout, 'Requested-by: developer@example.com')
  t.match(stdout, /^commit [0-9a-f]{40} \(releases\/shop\)$/m)
  t.match(stdout, /^ shop\/features\.json \| /m)
  t.notMatch(stdout, '\x1b', 'no colours where no terminal is')
  t.same(await demo.leftovers(), [])
})

t.test('Ctrl-C ends the demo early and leaves nothing behind', async (t) => {
  const demo = await startDemo(t, [])
  await waitFor('start of the function', () => demo.stdout().includes('the function') || undefined, 20_000)
  demo.stop('SIGINT')
  demo.stop('SIGINT')
  const { code, stderr } = await demo.ended
  t.equal(stderr, 'The demo was stopped before its end; everything that it started is stopped and removed.\n')
  t.equal(code, 1)
  t.same(await demo.leftovers(), [])
})

const programs = [
  ['git', 'git'],
  ['setpriv', 'util-linux'],
  ['timeout', 'coreutils', '--cluster'],
] as const
for (const [missing, name, ...args] of sample(programs, ([, , ...args]) => args.join())) {
  t.test(`without ${missing} nothing is started, and one sentence names what to install`, async (t) => {
    const others = ['sh', 'git', 'nice', 'setpriv', 'timeout', 'kubectl'].filter(
      (program) => program !== missing,
    )
    const demo = await startDemo(t, args, { env: { PATH: folderWith(t, others) } })
    const { code, stdout, stderr } = await demo.ended
    t.match(stderr, new RegExp(`^The program ${missing} is not [^\n]*\\b${name}\\b[^\n]*\\.\n$`))
    t.equal(stdout, '')
    t.equal(code, 1)
    t.same(await demo.leftovers(), [])
  })
}

t.test('a host of your own in examples/ ends with 2 before anything is called', async (t) => {
  const copy = t.testdir()
  for (const folder of ['demo', 'examples', 'functions', 'webhook', 'test/harness', 'package.json'])
    await cp(join(ROOT, folder), join(copy, folder), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const file = join(copy, 'examples/2-configmap.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('git.example.com', 'git.acme.example'))
  const demo = await startDemo(t, [], { root: copy })
  const { code, stdout, stderr } = await demo.ended
  t.match(stderr, /^examples\/2-configmap\.yaml no longer names git\.example\.com, [^\n]*\.\n$/)
  t.equal(stdout, '')
  t.equal(code, 2)
})

t.test('--help prints the usage', async (t) => {
  const { code, stdout } = await (await startDemo(t, ['--help'])).ended
  t.match(stdout, /^Usage: npm run demo/)
  t.equal(code, 0)
})

t.test('a wrong flag ends with 2 and one sentence', async (t) => {
  const { code, stdout, stderr } = await (await startDemo(t, ['--clutser'])).ended
  t.equal(stderr, 'Unknown argument "--clutser"; --help shows the ones that the demo takes.\n')
  t.equal(stdout, '')
  t.equal(code, 2)
})
