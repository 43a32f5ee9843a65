import { execFile } from 'node:child_process'
import { chmod, cp, glob, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findGo } from '../harness/control-plane-binaries.ts'
import { buildGoTools, findBuilt, type GoTools, type Missing, type Search } from '../harness/go-build.ts'
import { isCounted, isLong } from '../harness/sample.ts'

const MODULE = 'code.gitea.io/gitea'
/** What Gitea reads at run time. */
const DATA = ['templates', 'options', 'public']

const GITEA: GoTools = {
  module: import.meta.dirname,
  name: 'gitea',
  packages: [MODULE],
  programs: ['gitea'],
  shown: (goMod) => `Gitea ${/gitea\.io\/gitea (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 10,
  withoutGo: 'There is no Go to build Gitea.',
  flags: () => ['-tags', 'sqlite sqlite_unlock_notify', '-ldflags', '-s -w'],
  // Its SQLite is written in C.
  env: { CGO_ENABLED: '1', CGO_CFLAGS: '-O2 -DSQLITE_MAX_VARIABLE_NUMBER=32766' },
  complete: copyData,
}

/**
 * The folder of the program `gitea` and of its data in `static`. A long run builds it; where lines are counted, as in CI, it
 * is taken if it is built already; any other run leaves it out.
 */
export async function findGitea(search: Search): Promise<string | Missing> {
  if (isLong()) return buildGoTools(GITEA, await findGo(search), search)
  const missing = 'A real Gitea is for npm run test:forge and npm run test:long'
  if (!isCounted()) return { missing: `${missing}.` }
  return (await findBuilt(GITEA, search.env)) ?? { missing: `${missing}, which build it.` }
}

async function copyData(folder: string, go: string): Promise<void> {
  const { stdout } = await promisify(execFile)(go, ['list', '-m', '-f', '{{.Dir}}', MODULE], {
    cwd: import.meta.dirname,
  })
  for (const name of DATA) {
    const copy = join(folder, 'static', name)
    await cp(join(stdout.trim(), name), copy, { recursive: true })
    // Go's cache of modules cannot be written to.
    for await (const entry of glob('**/', { cwd: copy })) await chmod(join(copy, entry), 0o755)
  }
  // The module has no front end; Gitea starts with an empty one.
  const assets = join(folder, 'static/public/assets')
  for (const name of ['.vite', 'img/svg']) await mkdir(join(assets, name), { recursive: true })
  await writeFile(join(assets, '.vite/manifest.json'), '{}')
}
