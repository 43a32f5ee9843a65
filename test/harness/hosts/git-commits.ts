import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitEnvironment } from '../git-backend.ts'
import type { GitRepository } from '../git-repository.ts'
import type { ModelCommits } from './model.ts'

/** Whom GitHub names as committer of what it commits itself. */
const COMMITTER = { GIT_COMMITTER_NAME: 'GitHub', GIT_COMMITTER_EMAIL: 'noreply@github.com' }
const AUTHOR = { GIT_AUTHOR_NAME: 'commitlet[bot]', GIT_AUTHOR_EMAIL: 'commitlet@users.noreply.github.com' }

/** Commits that a host makes itself, in a real bare repository. */
export function gitCommits({ path }: Pick<GitRepository, 'path'>): ModelCommits {
  return {
    commit({ branch, expected, message, additions, deletions }) {
      const folder = mkdtempSync(join(tmpdir(), 'commitlet-host-commit-'))
      const env = { ...gitEnvironment(), ...COMMITTER, ...AUTHOR, GIT_INDEX_FILE: join(folder, 'index') }
      const git = (args: readonly string[], input: string | Uint8Array = ''): string => {
        const { status, stdout, stderr } = spawnSync('git', ['-C', path, ...args], { env, input })
        if (status !== 0) throw new Error(String(stderr))
        return String(stdout).trim()
      }
      try {
        git(['read-tree', expected])
        for (const { path: file, content } of additions) {
          const blob = git(['hash-object', '-w', '--stdin'], content)
          git(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`])
        }
        for (const file of deletions) git(['rm', '--cached', '--quiet', '--', file])
        const oid = git(['commit-tree', git(['write-tree']), '-p', expected, '-F', '-'], message)
        git(['update-ref', `refs/heads/${branch}`, oid, expected])
        return oid
      } catch (error) {
        if (/but expected|reference already exists|unable to resolve/.test(String(error))) return 'stale'
        throw error
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}
