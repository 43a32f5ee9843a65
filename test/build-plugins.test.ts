import { join } from 'node:path'
import t from 'tap'
import { build, stop } from 'esbuild'
import { compiledValidators } from '../build-plugins.ts'
import { parse, type Parsed } from '../functions/domain/schema/parse.ts'
import { gitCommit, pullRequest } from './harness/memory-world.ts'

const SCHEMA = join(import.meta.dirname, '../functions/domain/schema')

/** Specs with errors of every keyword of the schemas, and without. */
const SPECS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { branch: '', message: '', repository: 7, resourceRef: null },
  { branch: 'b'.repeat(300), message: '😀'.repeat(70_000), credentials: {} },
  { credentials: { secretName: 'x'.repeat(300), tokenKey: 'a key' }, provider: 'Git Hub' },
  { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', path: '' }, unknown: true },
  { labels: ['a', 'a'], reviewers: 'me', draft: 'yes', title: '', headBranch: ['x'] },
  { labels: Array.from({ length: 300 }, String), assignees: [1, {}, ''] },
]

t.test('the validators of a bundle find the same errors, and need no compiler', async (t) => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: "export { parse } from './parse.ts'", resolveDir: SCHEMA, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    metafile: true,
    plugins: [compiledValidators()],
  })
  await stop()
  const compilers = Object.keys(metafile.inputs).filter((file) => /ajv\/dist\/(ajv|core|compile)/.test(file))
  t.strictSame(compilers, [])
  const text = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const bundled = (await import(`data:text/javascript;base64,${text}`)) as {
    parse: (value: unknown) => Parsed
  }
  let found = 0
  for (const resource of SPECS.flatMap((spec) => [gitCommit(spec), pullRequest(spec)])) {
    const { fieldErrors } = parse(resource)
    found += fieldErrors.length
    t.strictSame(bundled.parse(resource).fieldErrors, fieldErrors)
  }
  t.ok(found > 30, `${found} errors`)
})
