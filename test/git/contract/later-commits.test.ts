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
const FILE = 'a.md'
const OTHER = 'Another writer'
/** Where `git fast-import` finds the commit to begin at. */
const FROM = 'FROM'

/** For `git fast-import`: commits of this date, of which the first one changes the file of all changes here. */
function laterCommits(date: Date): string {
  const by = `Another Writer <writer@example.com> ${Math.floor(date.getTime() / 1000)} +0000`
  return Array.from({ length: COUNT }, (_, i) => {
    const [path, text] = i === 0 ? [FILE, OTHER] : [`later/${i}.md`, `${i}`]
    const from = i === 0 ? [`from ${FROM}`] : []
    const message = `Later ${i}`
    const head = ['commit refs/heads/main', `committer ${by}`, `data ${message.length}`, message, ...from]
    return [...head, `M 100644 inline ${path}`, `data ${text.length}`, text, ''].join('\n')
  }).join('')
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
    const stream = laterCommits(new Date()).replace(FROM, sha)
    const env = gitEnvironment()
    execFileSync('git', ['fast-import', '--quiet'], { cwd: repository.path, input: stream, env })
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
}
