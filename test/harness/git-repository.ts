import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
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

/** A bare repository on the server's disk, seen from behind. */
export interface GitRepository {
  readonly name: string
  readonly path: string
  /** Address for clients, ending in `.git`. */
  readonly url: string
  /** Runs git in the bare repository and answers its output without the last line's end. */
  git(...args: readonly string[]): Promise<string>
  /** Subjects of the branch, newest first; the default branch where none is named. */
  log(branch?: string): Promise<string[]>
  /** Exact content of `branch:path`. */
  show(object: string): Promise<string>
  /** Another writer: one commit on the branch (made from nothing where it is missing); answers its name. */
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
  await mkdir(repository.path, { recursive: true })
  await repository.git('init', '-q', '--bare', '--template=', `--initial-branch=${branch}`)
  await configure(repository, options)
  if (options.empty === true) return repository
  await repository.commit(branch, options.files ?? { 'README.md': `# ${name}\n` }, 'Begin')
  for (const other of options.branches ?? []) await repository.git('branch', other, branch)
  return repository
}

async function configure(repository: GitRepository, options: RepositoryOptions): Promise<void> {
  const filter = String(options.allowFilter ?? true)
  const config = {
    'core.logAllRefUpdates': 'true',
    'core.fsync': 'none',
    'gc.auto': '0',
    'receive.autogc': 'false',
    'uploadpack.allowFilter': filter,
    'uploadpack.allowAnySHA1InWant': filter,
    ...options.config,
  }
  for (const [key, value] of Object.entries(config)) await repository.git('config', key, value)
  await mkdir(join(repository.path, 'hooks'), { recursive: true })
  for (const [hook, script] of Object.entries(options.hooks ?? {})) {
    const file = join(repository.path, 'hooks', hook)
    await writeFile(file, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`)
    await chmod(file, 0o755)
  }
}

function openRepository(path: string, url: string, name: string): GitRepository {
  const options = { cwd: path, env: gitEnvironment(), maxBuffer: 256 * 1024 * 1024 }
  async function git(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('git', args, options)
    return stdout.replace(/\n$/, '')
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
      const tip = await git('for-each-ref', '--format=%(objectname)', ref)
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
      return git('rev-parse', ref)
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
