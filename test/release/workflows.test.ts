import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { complaintsAbout, readWorkflows, releaseJobs, ROOT, type Step } from './workflows.ts'

const WORKFLOWS = readWorkflows()
const JOBS = [...WORKFLOWS].flatMap(([file, { workflow }]) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ place: `${file}, ${name}`, workflow, job })),
)
const STEPS = JOBS.flatMap(({ place, job }) =>
  (job.steps ?? []).map((step: Step) => ({ place, step, env: { ...job.env, ...step.env } })),
)
const SCRIPTS = STEPS.flatMap(({ place, step, env }) =>
  step.run === undefined ? [] : [{ place, run: step.run, env }],
)
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }

t.test('a workflow may read at most, and only a job may write', async (t) => {
  t.strictSame([...WORKFLOWS.keys()], ['.github/workflows/release.yaml', '.github/workflows/test.yaml'])
  for (const [file, { workflow }] of WORKFLOWS) {
    t.ok(workflow.permissions, `${file} has permissions at the top`)
    for (const right of Object.values(workflow.permissions ?? {})) t.equal(right, 'read', file)
  }
  const writing = JOBS.flatMap(({ place, job }) =>
    Object.entries(job.permissions ?? {}).flatMap(([what, right]) =>
      right === 'write' ? [`${place}: ${what}`] : [],
    ),
  )
  t.strictSame(writing, [
    '.github/workflows/release.yaml, publish: id-token',
    '.github/workflows/release.yaml, publish: attestations',
    '.github/workflows/release.yaml, release: contents',
    '.github/workflows/release.yaml, release: id-token',
    '.github/workflows/release.yaml, release: attestations',
    '.github/workflows/release.yaml, site: contents',
  ])
})

t.test('each action is pinned by a hash whose version is told, and each workflow is there', async (t) => {
  for (const [file, { text }] of WORKFLOWS) {
    const used = [...text.matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action)
    t.ok(used.length > 0, file)
    for (const action of used)
      if (action.startsWith('./')) t.ok(existsSync(join(ROOT, action)), action)
      else t.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file)
  }
})

t.test('each job ends in time, and keeps no token on the disk', async (t) => {
  for (const { place, job } of JOBS) if (job.steps !== undefined) t.ok(job['timeout-minutes'], place)
  const checkouts = STEPS.filter(({ step }) => step.uses?.startsWith('actions/checkout@'))
  t.ok(checkouts.length > 0)
  for (const { place, step } of checkouts) t.equal(step.with?.['persist-credentials'], false, place)
})

t.test(
  'each script is valid, prints no secret, and takes nothing from outside but by its environment',
  async (t) => {
    t.ok(SCRIPTS.length > 5, `${SCRIPTS.length} scripts`)
    for (const { place, run, env } of SCRIPTS) {
      t.equal(spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' }).stderr, '', place)
      t.strictSame(complaintsAbout(run, env), [], place)
    }
  },
)

t.test('a script that prints a secret is found', async (t) => {
  const env = { TOKEN: '${{ secrets.TOKEN }}', NAME: '${{ github.ref_name }}' }
  t.same(complaintsAbout('echo "$TOKEN" "$NAME"', env), ['TOKEN may be printed'])
  t.same(complaintsAbout('login --password-stdin <<<"$TOKEN"; echo "$NAME"', env), [])
  t.same(complaintsAbout('curl -H "${TOKEN}"', { TOKEN: '${{ github.token }}' }), ['TOKEN may be printed'])
  t.match(complaintsAbout('echo ${{ github.head_ref }}\nset -ex', env), [/env$/, /printed$/])
})

t.test('each script of the project that a workflow calls is there', async (t) => {
  const called = SCRIPTS.flatMap(({ run }) =>
    [...run.matchAll(/(?<![\w/])\.ci\/[\w-]+/g)].map(([path]) => path),
  )
  t.strictSame(
    [...new Set(called)].toSorted(),
    ['kubectl-plugin', 'publish-site', 'release-notes', 'run'].map((name) => `.ci/${name}`),
  )
  for (const path of called) t.doesNotThrow(() => accessSync(join(ROOT, path), constants.R_OK), path)
  for (const { run } of SCRIPTS)
    for (const [, name = ''] of run.matchAll(/\bnpm run ([\w:-]+)/g)) t.ok(Object.hasOwn(scripts, name), name)
})

t.test('an image for each architecture is built, and all of them get one name', async (t) => {
  const jobs = releaseJobs()
  const built = jobs['image']?.strategy?.matrix.include.map(({ architecture }) => architecture)
  t.same(built, ['amd64', 'arm64'])
  const joined = jobs['publish']?.steps?.find(({ id }) => id === 'image')?.run ?? ''
  t.same(
    [...joined.matchAll(/\$VERSION-(\w+)/g)].map(([, architecture]) => architecture),
    built,
  )
  t.strictSame(
    Object.entries(jobs).map(([name, { needs }]) => [name, needs ?? []]),
    [
      ['test', []],
      ['version', []],
      ['image', ['test', 'version']],
      ['publish', ['version', 'image']],
      ['release', ['version', 'publish']],
      ['site', ['release']],
    ],
    'nothing is published before the tests',
  )
})

t.test('the forms for issues are complete', async (t) => {
  const forms = globSync('.github/ISSUE_TEMPLATE/{bug,idea}.yml', { cwd: ROOT })
  t.equal(forms.length, 2)
  for (const file of forms) {
    const { name, description, body } = parse(readFileSync(join(ROOT, file), 'utf8'))
    t.ok(name && description, file)
    const asked = body.filter(({ type }: { type: string }) => type !== 'markdown')
    t.equal(new Set(asked.map(({ id }: { id: string }) => id)).size, asked.length)
    for (const { attributes } of asked) t.ok(attributes.label)
  }
})
