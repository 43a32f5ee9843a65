import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { releaseJobs, ROOT } from './workflows.ts'

const CHANGELOG = `# Changelog

## Unreleased

- later

## 1.2.0

### Added

- files

## [1.1.0] - 2026-01-01

- first

## 1.0.0
`

/** Runs a program in a folder; files of the project that it needs are copied there. */
function run(
  folder: string,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return spawnSync(program, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } })
}

t.test(
  'the notes of a release are the section of its version, without which there is no release',
  async (t) => {
    const folder = t.testdir({ 'CHANGELOG.md': CHANGELOG })
    cpSync(join(ROOT, '.ci'), join(folder, '.ci'), { recursive: true })
    const notes = (version: string) => run(folder, ['.ci/release-notes', version])
    t.equal(notes('1.2.0').stdout, '### Added\n\n- files\n')
    t.equal(notes('1.1.0').stdout, '- first\n')
    for (const version of ['1.0.0', '1.2', '2.0.0'])
      t.match(notes(version), {
        status: 1,
        stdout: '',
        stderr: `CHANGELOG.md has no section "## ${version}"`,
      })
  },
)

t.test('a release is made only for the tag of the version', async (t) => {
  const folder = t.testdir({
    'CHANGELOG.md': CHANGELOG,
    'package.json': '{"version": "1.2.0", "type": "module"}',
  })
  cpSync(join(ROOT, '.ci'), join(folder, '.ci'), { recursive: true })
  const jobs = releaseJobs()
  const script = jobs['version']?.steps?.find(({ id }) => id === 'version')?.run ?? ''
  const GITHUB_OUTPUT = join(folder, 'output')
  // As GitHub runs it.
  const tagged = (TAG: string) => run(folder, ['bash', '-e', '-c', script], { TAG, GITHUB_OUTPUT })
  t.match(tagged('v1.2.1'), { status: 1, stderr: 'The tag is v1.2.1, but package.json has version 1.2.0' })
  t.match(tagged('v1.2.0'), { status: 0, stdout: '' })
  t.equal(readFileSync(GITHUB_OUTPUT, 'utf8'), 'version=1.2.0\n')
  writeFileSync(join(folder, 'package.json'), '{"version": "1.0.0"}')
  t.match(tagged('v1.0.0'), { status: 1, stderr: 'CHANGELOG.md has no section' })
})

t.test(
  'the plugin for kubectl is one program that runs, in an archive that its manifest describes',
  async (t) => {
    const folder = t.testdir({
      'commitlet.cjs': "#!/usr/bin/env node\nprocess.stdout.write('plugin')\n",
      a: {},
      b: {},
    })
    const page = 'https://git.example.com/acme/commitlet'
    const made = (into: string) => {
      const args = [join(folder, 'commitlet.cjs'), into, '1.2.0', page]
      return run(folder, [join(ROOT, '.ci/kubectl-plugin'), ...args])
    }
    t.match(made('a'), { status: 0, stderr: '' })
    const archive = 'kubectl-commitlet-1.2.0.tar.gz'
    t.strictSame(readdirSync(join(folder, 'a')).toSorted(), ['commitlet.yaml', archive])
    const bytes = readFileSync(join(folder, 'a', archive))
    const [platform, ...others] = parse(readFileSync(join(folder, 'a/commitlet.yaml'), 'utf8')).spec.platforms
    t.same(others, [])
    t.match(platform, {
      uri: `${page}/releases/download/v1.2.0/${archive}`,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bin: 'kubectl-commitlet',
    })
    made('b')
    t.ok(bytes.equals(readFileSync(join(folder, 'b', archive))), 'the same again')
    mkdirSync(join(folder, 'c'))
    run(folder, ['tar', '-C', 'c', '-xzf', join('a', archive)])
    const files = platform.files.map(({ from }: { from: string }) => from)
    t.strictSame(readdirSync(join(folder, 'c')).toSorted(), files.toSorted())
    t.match(run(folder, ['c/kubectl-commitlet']), { status: 0, stdout: 'plugin' })
  },
)

t.test('the site is the only commit of its branch, with files that begin with a dot or "_"', async (t) => {
  const folder = t.testdir({
    site: { 'index.html': '<p>1</p>', '.vp': 'a', _app: { 'x.js': 'b' } },
    empty: {},
  })
  const git = (...args: readonly string[]) => run(folder, ['git', '--git-dir=pages.git', ...args]).stdout
  run(folder, ['git', 'init', '--quiet', '--bare', 'pages.git'])
  const publish = (files: string, message: string) =>
    run(folder, [join(ROOT, '.ci/publish-site'), files, join(folder, 'pages.git'), 'gh-pages', message])
  t.match(publish('site', 'One'), { status: 0, stdout: '', stderr: '' })
  writeFileSync(join(folder, 'site/index.html'), '<p>2</p>')
  t.match(publish('site', 'Two'), { status: 0, stdout: '', stderr: '' })
  t.equal(git('log', '--format=%s', 'gh-pages'), 'Two\n')
  t.equal(git('show', 'gh-pages:index.html'), '<p>2</p>')
  t.equal(git('ls-tree', '-r', '--name-only', 'gh-pages'), '.nojekyll\n.vp\n_app/x.js\nindex.html\n')
  t.match(publish('empty', 'Three'), { status: 1, stderr: /^empty has no index\.html: build the site first/ })
})

t.test('a token goes to the server in a header, and is no argument', async (t) => {
  const seen: (string | undefined)[] = []
  const server = createServer(({ headers }, response) => {
    seen.push(headers.authorization)
    response.writeHead(403).end()
  })
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const folder = t.testdir({ site: { 'index.html': '' } })
  const args = ['site', `http://127.0.0.1:${port}/pages.git`, 'gh-pages', 'One']
  const env = { ...process.env, TOKEN: 'secret' }
  const child = spawn(join(ROOT, '.ci/publish-site'), args, { cwd: folder, env, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  t.not(code, 0)
  t.same(new Set(seen), new Set([`Basic ${btoa('x-access-token:secret')}`]))
})
