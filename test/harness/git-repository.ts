import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gitEnvironment } from './git-backend.ts'

/** A file by its content, or with a mode: 100755, 120000 (content is the target), 160000 (content is a commit). */
export type FileContent =
  string | Uint8Array | { readonly mode: string; readonly content: string | Uint8Array }
export type Files = Readonly<Record<string, FileContent>>

export interface RepositoryOptions {
  /** Default: main. */
  readonly defaultBranch?: string
  /** Further branches, at the commit of the default branch. */
  readonly branches?: readonly string[]
  /** Content of the first commit; default: a README.md. */
  readonly files?: Files
  /** No commit at all. */
  readonly empty?: boolean
  /** Shell scripts by the hook's name, such as pre-receive. */
  readonly hooks?: Readonly<Record<string, string>>
  /** Whether partial clones and wants of any object are allowed; default true, as at the large hosts. */
  readonly allowFilter?: boolean
  /** Further configuration, such as receive.maxInputSize. */
  readonly config?: Readonly<Record<string, string>>
}

/** A bare repository on the server's disk, seen from the server's side. */
export interface GitRepository {
  readonly name: string
  readonly path: string
  /** Address for clients, ending in `.git`. */
  readonly url: string
  /** Runs git in the bare repository and returns its output without the last line's end. */
  git(...args: readonly string[]): Promise<string>
  /** Subjects of the branch, newest first; the default branch where none is named. */
  log(branch?: string): Promise<string[]>
  /** Exact content of `branch:path`. */
  show(object: string): Promise<string>
  /** Another writer: one commit on the branch (a root commit where the branch is missing); returns its name. */
  commit(branch: string, files: Files, message?: string): Promise<string>
}

const run = promisify(execFile)

/** Makes `<root>/<name>.git`; `url` is the server's address. */
export async function createRepository(
  place: { readonly root: string; readonly url: string },
  name: string,
  options: RepositoryOptions = {},
): Promise<GitRepository> {
  const branch = options.defaultBranch ?? 'main'
  const repository = openRepository(join(place.root, `${name}.git`), `${place.url}/${name}.git`, name)
  await initialize(repository.path, branch, options)
  if (options.empty === true) return repository
  await repository.commit(branch, options.files ?? { 'README.md': `# ${name}\n` }, 'Begin')
  for (const other of options.branches ?? []) await repository.git('branch', other, branch)
  return repository
}

// The result of `git init --bare` and a `git config` for each setting, which saves eight processes for each repository.
async function initialize(path: string, branch: string, options: RepositoryOptions): Promise<void> {
  const filter = String(options.allowFilter ?? true)
  const config = {
    'core.repositoryFormatVersion': '0',
    'core.bare': 'true',
    'core.logAllRefUpdates': 'true',
    'core.fsync': 'none',
    'gc.auto': '0',
    'receive.autogc': 'false',
    'uploadpack.allowFilter': filter,
    'uploadpack.allowAnySHA1InWant': filter,
    ...options.config,
  }
  for (const folder of ['objects/pack', 'refs/heads', 'refs/tags', 'hooks'])
    await mkdir(join(path, folder), { recursive: true })
  await writeFile(join(path, 'HEAD'), `ref: refs/heads/${branch}\n`)
  await writeFile(join(path, 'config'), Object.entries(config).map(configLines).join(''))
  for (const [hook, script] of Object.entries(options.hooks ?? {})) {
    const file = join(path, 'hooks', hook)
    await writeFile(file, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`)
    await chmod(file, 0o755)
  }
}

// The section, perhaps a subsection, and the name in it (git-config(1)).
function configLines([key, value]: readonly [string, string]): string {
  const [, section = '', subsection, name = ''] = /^([^.]+)\.(?:(.+)\.)?([^.]+)$/.exec(key) ?? []
  return `[${section}${subsection === undefined ? '' : ` ${JSON.stringify(subsection)}`}]\n\t${name} = ${JSON.stringify(value)}\n`
}

function openRepository(path: string, url: string, name: string): GitRepository {
  const options = { cwd: path, env: gitEnvironment(), maxBuffer: 256 * 1024 * 1024 }
  async function git(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('git', args, options)
    return stdout.replace(/\n$/, '')
  }
  // A branch is usually a file; git is called only where it may be packed, or a symbolic ref.
  async function tipOf(ref: string): Promise<string> {
    const loose = (await readFile(join(path, ref), 'utf8').catch(() => '')).trim()
    if (/^[0-9a-f]+$/.test(loose)) return loose
    if (loose === '' && !existsSync(join(path, 'packed-refs'))) return ''
    return git('for-each-ref', '--format=%(objectname)', ref)
  }
  return {
    name,
    path,
    url,
    git,
    log: async (branch = 'HEAD') => (await git('log', '--format=%s', branch, '--')).split('\n'),
    show: async (object) => (await run('git', ['cat-file', 'blob', object], options)).stdout,
    async commit(branch, files, message = 'Another writer was here') {
      const ref = `refs/heads/${branch}`
      const tip = await tipOf(ref)
      const child = spawn('git', ['fast-import', '--quiet', '--done'], {
        ...options,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      child.stdin.end(
        Buffer.concat([
          ...commitStream(ref, message),
          ...fromTip(tip),
          ...fileStream(files),
          Buffer.from('done\n'),
        ]),
      )
      const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
      if (code !== 0) throw new Error(`git fast-import could not commit to ${ref}: ${complaint}`)
      return tipOf(ref)
    },
  }
}

function commitStream(ref: string, message: string): Uint8Array[] {
  const seconds = Math.floor(Date.now() / 1000)
  return [
    Buffer.from(`commit ${ref}\ncommitter Another Writer <writer@example.com> ${seconds} +0000\n`),
    ...data(Buffer.from(message)),
  ]
}

function fromTip(tip: string): Buffer[] {
  return tip === '' ? [] : [Buffer.from(`from ${tip}\n`)]
}

function fileStream(files: Files): Uint8Array[] {
  return Object.entries(files).flatMap(([path, file]) => {
    const { mode, content } =
      typeof file === 'object' && 'mode' in file ? file : { mode: '100644', content: file }
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content)
    const name = `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
    if (mode === '160000') return [Buffer.from(`M ${mode} ${bytes.toString()} ${name}\n`)]
    return [Buffer.from(`M ${mode} inline ${name}\n`), ...data(bytes)]
  })
}

function data(bytes: Uint8Array): Uint8Array[] {
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]
}
