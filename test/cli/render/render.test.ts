import t from 'tap'
import { startGitServer } from '../../harness/git-server.ts'
import { commitlet, fileOf } from '../stage.ts'

// What a commit would hold, and what it would change, on a real Git server.
const TOKEN = 'tkn-render-5uPerSecret'
const server = await startGitServer({ users: [{ password: TOKEN }] })
t.teardown(() => server.close())
const env = { CA_FILE: server.caFile }

const objects = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git' }, stringData: { token: TOKEN } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { colour: 'blue' } },
]
const gitCommit = (repository: string, spec: object, name = 'shop'): object => ({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name },
  spec: { repository, branch: 'main', message: 'Record', credentials: { secretName: 'git' }, ...spec },
})
const whole = { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' } }
const MANIFEST =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop\n  namespace: default\ndata:\n  colour: blue\n'

t.test('the bytes alone, without a call of the remote', async (t) => {
  const file = await fileOf(t, ...objects, gitCommit('https://git.commitlet.invalid/a/b.git', whole))
  const ended = await commitlet(['render', '-f', file], { env })
  t.same(ended, { code: 0, stdout: MANIFEST, stderr: '' })
})

t.test('on a terminal nothing acts on it', async (t) => {
  const content = 'a\u001b]0;title\u0007b\n'
  const repository = await server.createRepository('acme/render-escapes', { files: { 'note.md': content } })
  const same = await fileOf(t, gitCommit(repository.url, { files: [{ path: 'note.md', content }] }))
  t.equal((await commitlet(['render', '-f', same], { env })).stdout, content, 'elsewhere it is the same')
  t.equal((await commitlet(['render', '-f', same], { env, columns: 80 })).stdout, 'a?]0;title?b\n')
  const other = await fileOf(
    t,
    ...objects,
    gitCommit(repository.url, { files: [{ path: 'note.md', content: 'c\n' }] }),
  )
  const { stdout } = await commitlet(['render', '-f', other, '--diff'], { env, columns: 80 })
  t.match(stdout, '\n-a?]0;title?b\n+c\n')
})

t.test('several files, removals and edits', async (t) => {
  const repository = await server.createRepository('acme/render-1', {
    files: { 'old.md': 'x', 'values.yaml': 'tag: 1 # keep\n' },
  })
  const files = [
    { path: 'note.md', content: 'hello\n' },
    { path: 'old.md', remove: true },
    { path: 'values.yaml', set: [{ field: '.tag', value: 2 }] },
  ]
  const file = await fileOf(t, ...objects, gitCommit(repository.url, { files }))
  const { stdout, code, stderr } = await commitlet(['render', '-f', file], { env })
  t.equal(code, 0, stderr)
  t.match(stdout, '==> note.md <==\nhello\n')
  t.match(stdout, '==> old.md (removed) <==\n')
  t.match(stdout, '==> values.yaml <==\ntag: 2 # keep\n')
  const json = await commitlet(['render', '-f', file, '--diff', '-o', 'json'], { env })
  t.equal(json.code, 1)
  t.match(JSON.parse(json.stdout), [
    { files: [{ path: 'note.md', content: 'hello\n' }, { path: 'old.md', before: 'x' }, {}] },
  ])
})

t.test('the difference to the branch, in colours', async (t) => {
  const repository = await server.createRepository('acme/render-2', {
    files: { 'shop.yaml': MANIFEST.replace('blue', 'red') },
  })
  const file = await fileOf(t, ...objects, gitCommit(repository.url, whole))
  const ended = await commitlet(['render', '-f', file, '--diff'], { env, colour: true })
  t.equal(ended.code, 1)
  t.match(ended.stdout, '\u001b[31m-  colour: red\u001b[39m\n\u001b[32m+  colour: blue\u001b[39m\n')
  t.match(ended.stdout, '\u001b[1m--- a/shop.yaml')
  await repository.commit('main', { 'shop.yaml': MANIFEST })
  t.match(await commitlet(['render', '-f', file, '--diff'], { env }), { code: 0, stdout: '' })
})

t.test('what cannot be rendered ends with its reason', async (t) => {
  const repository = await server.createRepository('acme/render-3', { files: { 'shop.yaml/x': 'a folder' } })
  const clash = await fileOf(t, ...objects, gitCommit(repository.url, whole))
  t.match(await commitlet(['render', '-f', clash, '--diff'], { env }), { code: 1, stderr: /PathConflict: / })
  const [, configMap] = objects
  const noSecret = await fileOf(t, configMap ?? {}, gitCommit(repository.url, whole))
  t.match(await commitlet(['render', '-f', noSecret, '--diff'], { env }), {
    code: 1,
    stderr: /ReferenceNotFound: /,
  })
  const unsound = await fileOf(t, gitCommit(repository.url, { ...whole, message: 7 }))
  t.match(await commitlet(['render', '-f', unsound], { env }), {
    code: 1,
    stderr: /InvalidSpec: spec\.message/,
  })
  const secret = await fileOf(t, ...objects.slice(0, 1))
  t.match(await commitlet(['render', '-f', secret], { env }), { code: 2, stderr: /Only a GitCommit/ })
  const gone = await fileOf(t, ...objects, gitCommit('https://git.commitlet.invalid/a/b.git', whole))
  t.match(await commitlet(['render', '-f', gone, '--diff'], { env }), { code: 3, stderr: /NetworkError: / })
})
