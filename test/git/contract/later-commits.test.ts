import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { gitEnvironment } from '../../harness/git-backend.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { changeOf, ENGINES, openStage } from '../stage.ts'

// A commit that was pushed without an answer, below more commits of others than are looked through by their number.
const stage = await openStage()
t.teardown(() => stage.close())

const COUNT = 110
const HOUR = 3_600_000
const FILE = 'a.md'
const OTHER = 'Another writer'
/** Where `git fast-import` finds the commit to begin at. */
const FROM = 'FROM'

/** For `git fast-import`: one commit on main, or on another branch. */
function commitOn(
  { branch = 'main', date = new Date(), from, merge }: CommitTerms,
  [path, text]: readonly [string, string],
): string {
  const by = `Another Writer <writer@example.com> ${Math.floor(date.getTime() / 1000)} +0000`
  const message = `Later ${path}`
  const head = [`commit refs/heads/${branch}`, `committer ${by}`, `data ${message.length}`, message]
  const parents = [
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(merge === undefined ? [] : [`merge ${merge}`]),
  ]
  return [...head, ...parents, `M 100644 inline ${path}`, `data ${text.length}`, text, ''].join('\n')
}

interface CommitTerms {
  readonly branch?: string
  readonly date?: Date
  readonly from?: string
  readonly merge?: string
}

/** Commits of this date, of which the first one changes the file of all changes here. */
function laterCommits(date: Date, count = COUNT): string {
  const first = commitOn({ date, from: FROM }, [FILE, OTHER])
  return [
    first,
    ...Array.from({ length: count }, (_, i) => commitOn({ date }, [`later/${i}.md`, `${i}`])),
  ].join('')
}

/** Writes commits to the repository as somebody else has pushed them. */
function write({ path }: GitRepository, stream: string): void {
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: path,
    input: stream,
    env: gitEnvironment(),
  })
}

/** A commit of two days ago on main. */
async function oldBase(repository: GitRepository): Promise<string> {
  const date = new Date(Date.now() - 48 * HOUR)
  write(repository, commitOn({ date, from: 'refs/heads/main^0' }, ['base.md', 'old']))
  return repository.git('rev-parse', 'main')
}

/** The merge of a branch that was begun and ended yesterday. */
function mergeOfYesterday(from: string): string {
  const date = new Date(Date.now() - 24 * HOUR)
  const side = commitOn({ branch: 'side', date, from }, ['side.md', 'of yesterday'])
  return `${side}${commitOn({ merge: 'refs/heads/side' }, ['merge.md', 'of today'])}`
}

async function timesOf(message: string, repository: GitRepository): Promise<number> {
  const [title] = message.split('\n')
  return (await repository.log('main')).filter((one) => one === title).length
}

for (const engine of ENGINES) {
  const name = engine.replace(' ', '-')

  t.test(`${engine}: is found or retried where the answer with the history breaks off`, async (t) => {
    const repository = await stage.server.createRepository(`later/${name}-cut`)
    const change = changeOf(repository.url, FILE, { since: new Date(Date.now() - 60_000) })
    const sha = await repository.commit('main', { [FILE]: 'old' }, change.message)
    write(repository, laterCommits(new Date()).replace(FROM, sha))
    const headers = { 'content-type': 'application/x-git-upload-pack-result' }
    // upload-pack writes it before it has looked for the commits.
    const answer = { kind: 'status', status: 200, body: '0011shallow-info\n', headers } as const
    const skip = engine === 'direct' ? 1 : 0
    const at = { repository: repository.name, exchange: 'upload-pack', command: 'fetch' } as const
    const off = stage.server.faults.add(answer, { ...at, skip, times: 1 })
    const ended = await stage.push(engine, change, {})
    off()
    t.match(ended, engine === 'direct' ? { reason: 'NetworkError' } : { outcome: 'found', sha })
    t.match(await stage.push(engine, change, {}), { outcome: 'found', sha })
    t.equal(await timesOf(change.message, repository), 1)
  })

  t.test(`${engine}: is found below commits whose changes have waited for longer`, async (t) => {
    const stream = join(stage.tempDir, `later-${name}`)
    const repository = await stage.server.createRepository(`later/${name}-older`, {
      hooks: {
        'post-receive': [
          '[ -e done ] && exit 0',
          'touch done',
          'unset GIT_QUARANTINE_PATH',
          `sed "s/${FROM}/$(git rev-parse main)/" ${stream} | git fast-import --quiet --force`,
          '',
        ].join('\n'),
      },
    })
    await writeFile(stream, laterCommits(new Date(Date.now() - 10_000)))
    stage.server.faults.add(
      { kind: 'lost' },
      { repository: repository.name, exchange: 'receive-pack', times: 1 },
    )
    const change = changeOf(repository.url, FILE)
    t.match(await stage.push(engine, change, {}), { outcome: 'found' })
    t.equal(await timesOf(change.message, repository), 1)
    t.equal(await repository.git('show', `main:${FILE}`), OTHER)
  })

  t.test(`${engine}: is found below the merge of an old branch, however many are between`, async (t) => {
    const repository = await stage.server.createRepository(`later/${name}-merge`)
    const base = await oldBase(repository)
    const change = changeOf(repository.url, FILE, { since: new Date(Date.now() - HOUR) })
    const sha = await repository.commit('main', { [FILE]: 'old' }, change.message)
    write(repository, `${laterCommits(new Date(), 600).replace(FROM, sha)}${mergeOfYesterday(base)}`)
    t.match(await stage.push(engine, change, {}), { outcome: 'found', sha })
    t.equal(await timesOf(change.message, repository), 1)
  })

  t.test(`${engine}: a change that was not pushed yet lands on the merge of an old branch`, async (t) => {
    const repository = await stage.server.createRepository(`later/${name}-unpushed`)
    const base = await oldBase(repository)
    write(repository, `${commitOn({ from: base }, ['fix.md', 'new'])}${mergeOfYesterday(base)}`)
    const change = changeOf(repository.url, FILE, { since: new Date(Date.now() - HOUR) })
    t.match(await stage.push(engine, change, {}), { outcome: 'pushed' })
    t.match(await stage.push(engine, change, {}), { outcome: 'found' })
  })

  t.test(`${engine}: is found where its branch was merged and deleted`, async (t) => {
    const repository = await stage.server.createRepository(`later/${name}-deleted`)
    const change = changeOf(repository.url, FILE, { branch: 'next' })
    const pushed = await stage.push(engine, change, {})
    const sha = await repository.git('rev-parse', 'next')
    t.match(pushed, { outcome: 'pushed', sha })
    write(repository, commitOn({ from: 'refs/heads/main^0', merge: sha }, [FILE, OTHER]))
    await repository.git('update-ref', '-d', 'refs/heads/next')
    const again = { ...change, since: new Date(Date.now() - HOUR) }
    t.match(await stage.push(engine, again, {}), { outcome: 'found', sha })
    t.equal(await repository.git('for-each-ref', 'refs/heads/next'), '')
    await repository.git('update-ref', 'refs/heads/main', `${await repository.git('rev-parse', 'main')}^1`)
    t.match(await stage.push(engine, again, {}), { outcome: 'pushed' }, 'it was not merged')
  })
}
