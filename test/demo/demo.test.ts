import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { folderWith, ROOT, startDemo } from './run-demo.ts'
import { drawnTests } from '../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const EXAMPLES = ['shop-settings', 'shop-deployment', 'shop-features']

t.test(
  'five acts show a commit, a pull request, a denial and a kill, and leave nothing behind',
  async (t) => {
    const demo = await startDemo(t, [], { env: { LOG_LEVEL: 'warn' } })
    const { code, stdout, stderr } = await demo.ended
    t.equal(stderr, '', 'both parts know the stamp key, and neither has anything to warn of')
    t.equal(code, 0)
    t.match(
      stdout,
      /^✔ Committed as [0-9a-f]{12} to the branch main at banner\.txt and 2 more\. \(\d+\.\d s\)$/m,
    )
    t.match(stdout, /^ old\.txt \(gone\) +\| 1 -$/m)
    t.match(stdout, /^- {2}tag: 1\.4\.2 (# .*)\n\+ {2}tag: 1\.5\.0 \1$/m)
    t.match(
      stdout,
      /^ {2}The ConfigMap changes: .*\n✔ Committed as [0-9a-f]{12} to the branch main at banner\.txt and 2 more\./m,
    )
    t.match(stdout, /^✔ Opened #1: https:\/\/localhost:\d+\/acme\/config\/pull\/1 /m)
    t.match(stdout, /^✖ spec\.resourceRef\.kind is Secret, which is never committed /m)
    t.match(
      stdout,
      /Commit ([0-9a-f]{12}) is pushed, [^]*\n\$ kill -9 \d+\n[^]*✔ Committed as \1 .* attempt 2\.$/m,
    )
    t.match(
      stdout,
      '✔ 3 GitCommits, 1 change: 4 commits. 1 PullRequest: 1 pull request. 1 crash: nothing lost',
    )
    t.notMatch(stdout, '\x1b', 'no colours where no terminal is')
    t.ok(stdout.split('\n').length < 50, 'it fits on a screen')
    t.same(await demo.leftovers(), [])
  },
)

t.test('with --verbose it turns the three examples into commits', async (t) => {
  const demo = await startDemo(t, ['--verbose'], { env: { LOG_LEVEL: 'warn' } })
  const { code, stdout, stderr } = await demo.ended
  t.equal(stderr, '')
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

drawn('Ctrl-C ends the demo early and leaves nothing behind', async (t) => {
  const demo = await startDemo(t, [])
  await waitFor('first act', () => demo.stdout().includes('1  Apply') || undefined, 20_000)
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
for (const [missing, name, ...args] of sample(programs, () => 'a program')) {
  drawn(`without ${missing} nothing is started, and one sentence names what to install`, async (t) => {
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

drawn('a host of your own in examples/ ends with 2 before anything is called', async (t) => {
  const copy = t.testdir()
  for (const folder of ['demo', 'examples', 'functions', 'webhook', 'test/harness', 'package.json'])
    await cp(join(ROOT, folder), join(copy, folder), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const file = join(copy, 'examples/2-configmap.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('git.example.com', 'git.acme.example'))
  const demo = await startDemo(t, ['--verbose'], { root: copy })
  const { code, stdout, stderr } = await demo.ended
  t.match(stderr, /^examples\/2-configmap\.yaml no longer names git\.example\.com, [^\n]*\.\n$/)
  t.equal(stdout, '')
  t.equal(code, 2)
})

const flags = [
  ['--help', 'prints the usage', { code: 0, stdout: /^Usage: npm run demo/, stderr: '' }],
  [
    '--clutser',
    'ends with 2 and one sentence',
    {
      code: 2,
      stdout: '',
      stderr: 'Unknown argument "--clutser"; --help shows the ones that the demo takes.\n',
    },
  ],
] as const
for (const [flag, what, expected] of sample(flags, () => 'a flag')) {
  drawn(`${flag} ${what}`, async (t) => {
    t.match(await (await startDemo(t, [flag])).ended, expected)
  })
}
