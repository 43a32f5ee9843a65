import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = 'functions,webhook,cli,test,bench,demo,manifests,overlays,examples,docs'
const FILES = globSync([`{${FOLDERS}}/**/*.{ts,md,sh,yaml}`, '*.{ts,md,yaml}'], { cwd: ROOT }).sort()
/** `*` stands for a part of a name, as in a shell; NAME for the name of a provider. */
const NAME = /[\w*./-]*[\w*]\.(?:ts|md|sh)\b/g

/** What people read: all of a page, else the comments and the titles of tests. */
function proseOf(file: string, text: string): string {
  if (file.endsWith('.md')) return text
  const comments = /\.ts$/.test(file) ? /^\s*\/?\*.*$|(?:^|\s)\/\/.*$/gm : /(?:^|\s)#.*$/gm
  const titles = /\bt\.test\(\s*(['"`])(.*)\1/g
  return [...text.matchAll(comments), ...text.matchAll(titles)].map(([found]) => found).join('\n')
}

/** Names of files in prose that no path of this project ends with. */
function strangersIn(prose: string): readonly string[] {
  const names = prose.replace(/\bhttps?:\/\/\S+/g, '').match(NAME) ?? []
  return names.filter((name) => !name.includes('NAME') && !isThere(name))
}

function isThere(name: string): boolean {
  const path = name.replace(/^(?:\.{0,2}\/)+/, '')
  const pattern = path
    .split('*')
    .map((part) => part.replaceAll('.', '\\.'))
    .join('[^/]*')
  return FILES.some((file) => new RegExp(`(?:^|/)${pattern}$`).test(file))
}

t.test('a name without a file is found in a comment, a title or a page, and nowhere else', async (t) => {
  const source = `/** As nowhere.ts. */\nconst x = 'data.md' // See gone.md, failure.ts and https://a.b/c.md\nt.test('old.ts', f)`
  t.strictSame(strangersIn(proseOf('a.ts', source)), ['nowhere.ts', 'gone.md', 'old.ts'])
  t.strictSame(strangersIn(proseOf('a.yaml', "x: 'data.md' # gone.sh\n")), ['gone.sh'])
  t.strictSame(strangersIn('`gate/failure.ts`, ../README.md, *.test.ts, gone-*.ts, x/NAME.ts'), [
    'gate/failure.ts',
    'gone-*.ts',
  ])
})

t.test('every file that a comment, a title or a page names is there', async (t) => {
  t.ok(FILES.length > 500, `${FILES.length} files`)
  const own = join('test', 'docs', 'file-names.test.ts')
  for (const file of FILES) {
    if (file === own) continue
    const strangers = strangersIn(proseOf(file, readFileSync(join(ROOT, file), 'utf8')))
    if (strangers.length > 0) t.strictSame(strangers, [], file)
  }
})
