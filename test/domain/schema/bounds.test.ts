import t from 'tap'
import { member } from '../../../functions/domain/json-value.ts'
import { boundedFirst, isLonger } from '../../../functions/domain/schema/bounds.ts'
import { GITCOMMIT_SPEC } from '../../../functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../../../functions/domain/crd/pull-request.ts'
import type { Schema } from '../../../functions/domain/crd/schema.ts'
import { judge } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { sample } from '../../harness/sample.ts'

const TEXT: Schema = {
  type: 'string',
  description: 'd',
  expects: 'e',
  minLength: 1,
  maxLength: 3,
  pattern: '^a',
}
const LIST: Schema = { type: 'array', description: 'd', maxItems: 2, items: TEXT }
const OBJECT: Schema = { type: 'object', description: 'd', properties: { text: TEXT, list: LIST } }

t.test('patterns and entries are checked where the length is allowed', async (t) => {
  t.match(boundedFirst(OBJECT), {
    properties: {
      text: { maxLength: 3, if: { minLength: 1, maxLength: 3 }, then: { pattern: '^a', expects: 'e' } },
      list: { maxItems: 2, if: { maxItems: 2 }, then: { uniqueItems: false, items: { maxLength: 3 } } },
    },
  })
  t.notOk('pattern' in boundedFirst(TEXT))
  t.notOk('items' in boundedFirst(LIST))
})

t.test('characters are counted, not their halves', async (t) => {
  t.notOk(isLonger('\u{1f600}'.repeat(3), 3))
  t.ok(isLonger('\u{1f600}'.repeat(4), 3))
  t.ok(isLonger('abcd', 3))
  t.notOk(isLonger('abc', 3))
  t.ok(isLonger('', -1))
})

t.test('to count a text that is a little too long takes no memory for its characters', async (t) => {
  const text = `${'a'.repeat(131_000)}\u{1f600}`
  const count = (): boolean => Array.from({ length: 20 }, () => isLonger(text, 65_536)).every(Boolean)
  const before = cpuTime()
  t.ok(count())
  const took = cpuTime() - before
  t.ok(took < allowedMs(4), `${took} ms`)
})

const SPEC = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'chore: settings',
  credentials: { secretName: 'git', tokenKey: 'token' },
  resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' },
}
const PULL = {
  repository: 'https://github.com/acme/shop.git',
  baseBranch: 'main',
  headBranch: 'new',
  title: 'New settings',
  credentials: { secretName: 'git' },
}

const RESOURCE = { apiVersion: 'commitlet.dev/v1', metadata: { namespace: 'shop' } }
const OUTSIDE = reviewContext()

const MEGABYTE = 1_000_000
const FILLERS = [
  ...['.', 'a', '/', ' ', '\n', '-', 'A:', '\u00a0', 'é', '\u{1f600}', 'a/', '# ', '[', '.lock', 'git~'].map(
    (filler) => filler.repeat(MEGABYTE / filler.length),
  ),
  `${'.'.repeat(MEGABYTE)}/`,
  `${'a'.repeat(MEGABYTE)}\0`,
  `${' '.repeat(MEGABYTE)}\0`,
  `https://h/${'a/'.repeat(MEGABYTE / 2)}a`,
  `a@h:${'a/'.repeat(MEGABYTE / 2)}a`,
  `https://${'a.'.repeat(MEGABYTE / 2)}/`,
]

interface TextField {
  readonly path: readonly string[]
  readonly limit: number
}

/** Each text in a spec, without the entries of lists. */
function textsOf(schema: Schema, path: readonly string[] = []): TextField[] {
  const inner = Object.entries(schema.properties ?? {})
  if (inner.length > 0) return inner.flatMap(([name, property]) => textsOf(property, [...path, name]))
  return schema.type === 'string' ? [{ path, limit: schema.maxLength ?? 0 }] : []
}

function setAt(value: unknown, [first, ...rest]: readonly string[], text: string): unknown {
  return first === undefined ? text : { ...Object(value), [first]: setAt(member(value, first), rest, text) }
}

const TEXTS = [
  ...textsOf(GITCOMMIT_SPEC).map((text) => ({
    ...text,
    kind: 'GitCommit',
    spec: { ...SPEC, provider: 'gitlab', providerConfig: { baseURL: 'x' } },
  })),
  ...textsOf(PULLREQUEST_SPEC).map((text) => ({ ...text, kind: 'PullRequest', spec: PULL })),
]

t.test('no text takes long to validate, however long or odd it is', async (t) => {
  for (const { path, limit, kind, spec } of TEXTS) {
    const field = `spec.${path.join('.')}`
    const all = [...FILLERS.entries()]
    const fillers = sample(all, ([index]) => `${kind} ${field} ${Math.floor(index / 4)}`)
    const judged = (text: string) => judge({ ...RESOURCE, kind, spec: setAt(spec, path, text) }, OUTSIDE)
    // CPU time: the wall time grows with whatever else the machine runs.
    const began = process.cpuUsage()
    for (const [index, filler] of fillers) {
      await judged(`${filler.slice(0, limit - 1)}${filler.slice(-1)}`)
      const { fieldErrors } = await judged(filler)
      const found = fieldErrors.filter((fieldError) => fieldError.field === field)
      if (found.length !== 1) t.fail(`${kind} ${field}, filler ${index}: ${found.length} field errors`)
    }
    const { user, system } = process.cpuUsage(began)
    const took = (user + system) / 1_000
    t.ok(took < 10_000, `${kind} ${field}: ${took} ms`)
  }
})
