import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The files that name the version; package.json, with its lock file, is where it is decided. */
const FILES = [
  'Dockerfile',
  'README.md',
  'knative.yaml',
  'docs/**/*.md',
  'manifests/**/*.yaml',
  'overlays/**/*.yaml',
] as const

/** What stands before the version in them. */
const BEFORE = [
  'registry\\.example\\.com/commitlet:',
  '\\$IMAGE:',
  'newTag: ',
  'image\\.version=',
  '\\?ref=v',
  'commitlet-(?=\\d)',
  '--version ',
]
const PLACES = new RegExp(`(${BEFORE.join('|')})\\d+\\.\\d+\\.\\d+(?:-[\\w.]*\\w)?`, 'g')

/**
 * The files below the project's folder that name another version than that of its package.json, by their paths from there.
 * Unless `check` is set, they name it afterwards.
 */
export function setVersion(root: URL, check: boolean): readonly string[] {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return globSync(FILES, { cwd: fileURLToPath(root) })
    .toSorted()
    .filter((path) => {
      const file = new URL(path, root)
      const old = readFileSync(file, 'utf8')
      const text = old.replace(PLACES, `$1${version}`)
      if (text !== old && !check) writeFileSync(file, text)
      return text !== old
    })
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = setVersion(new URL('../', import.meta.url), check)
  const verb = check ? 'names another version; run "npm run set-version"' : 'written'
  for (const path of stale) process.stdout.write(`${path} ${verb}\n`)
  if (check && stale.length > 0) process.exitCode = 1
}
