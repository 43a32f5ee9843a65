import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ServedRepository } from '../remote/servers.ts'

const run = promisify(execFile)

/** Makes them where `main` is. */
export async function makeBranches({ path }: ServedRepository, branches: readonly string[]): Promise<void> {
  const tip = await git(path, 'rev-parse', 'refs/heads/main')
  const child = run('git', ['update-ref', '--stdin'], { cwd: path })
  child.child.stdin?.end(branches.map((branch) => `create refs/heads/${branch} ${tip}\n`).join(''))
  await child
}

/** Commits on these branches that `main` does not have. */
export async function commitsOn({ path }: ServedRepository, branches: readonly string[]): Promise<number> {
  const refs = branches.map((branch) => `refs/heads/${branch}`)
  return Number(await git(path, 'rev-list', '--count', ...refs, '^refs/heads/main'))
}

async function git(path: string, ...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: path })).stdout.trim()
}
