import { join } from 'node:path'
import t from 'tap'
import { build, stop } from 'esbuild'
import { compiledValidators, plainAsserts } from '../build-plugins.ts'
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

t.test('an assert of a bundle that fails has its message, or one that is always the same', async (t) => {
  const contents = `
    import assert from 'node:assert'
    import { AssertionError, strict } from 'assert'
    const called = [() => assert(1 === 2), () => assert.ok(0, 'a word'), () => strict(false, new RangeError('its own'))]
    const others = [() => assert.strictEqual(1, 2, 'not equal'), () => strict.equal(1, '1', 'no number')]
    export const errors = [...called, ...others].map((call) => { try { call() } catch (error) { return error } })
    export const none = [assert(1), assert.ok('x'), strict(true)]
    export { AssertionError }`
  const stdin = { contents, resolveDir: import.meta.dirname }
  const bundle = { bundle: true, format: 'cjs', platform: 'node', write: false } as const
  const { outputFiles } = await build({ stdin, ...bundle, plugins: [plainAsserts()] })
  await stop()
  const file = join(t.testdir({ 'bundle.cjs': outputFiles[0]?.text ?? '' }), 'bundle.cjs')
  const { errors, none } = (await import(file)) as { readonly errors: unknown; readonly none: unknown }
  const messages = [
    /^What was asserted does not hold\.$/,
    /^a word$/,
    /^its own$/,
    /^not equal/,
    /^no number/,
  ]
  t.match(
    errors,
    messages.map((message) => ({ message })),
  )
  t.match(errors, [{ code: 'ERR_ASSERTION' }])
  t.strictSame(none, [undefined, undefined, undefined])
})
