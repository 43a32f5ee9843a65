import t from 'tap'
import { specErrors, specWarnings } from '../../../functions/domain/gate/spec-rules.ts'
import { isReadable, parse } from '../../../functions/domain/schema/parse.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const REPOSITORY = 'https://git.example.com/acme/shop.git'
const LONG_NAME = 'n'.repeat(253)

function reference(name: string, field?: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, ...(field === undefined ? {} : { field }) }
}

function resourceOf(spec: object, name = LONG_NAME): object {
  const whole = { repository: REPOSITORY, message: 'a', ...spec }
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { name, namespace: 'a' },
    spec: whole,
  }
}

/** So many files, the n-th at this path. */
function filesAt(count: number, path: string, source: object = { content: '' }): object {
  return { files: Array.from({ length: count }, (_, i) => ({ path: `${path}${i}`, ...source })) }
}

/** A thousand changes in 16 files, with this field in each of three places. */
function changesOf(field: string): object {
  const change = { field, document: { field, value: 'x' }, valueFrom: { resourceRef: reference('a', field) } }
  const files = Array.from({ length: 16 }, (_, i) => ({
    path: `${i}.yaml`,
    set: Array.from({ length: i < 15 ? 64 : 40 }, () => change),
  }))
  return { files }
}

/** What is judged of a resource, and in which time. */
function judged(resource: object) {
  const before = cpuTime()
  const parsed = parse(resource)
  const errors = isReadable(parsed) ? [...specErrors(parsed), ...specWarnings(parsed)] : parsed.fieldErrors
  return { errors, took: cpuTime() - before, sound: parsed.sound }
}

/** Specs that a tenant may send, with a name of a metadata that the API server has not checked yet. */
const HOSTILE: readonly (readonly [title: string, spec: object, name?: string])[] = [
  ['paths of names', filesAt(34, '{name}/'.repeat(145))],
  [
    'paths of names of dots and blanks',
    filesAt(34, '{name}/'.repeat(145), { resourceRef: reference(`.git${'. '.repeat(124)}x`) }),
  ],
  ['paths of dots and blanks', filesAt(100, '. '.repeat(500))],
  ['paths of a name of folders', filesAt(100, '{name}/'), 'a/'.repeat(500)],
  ['paths of a name without end', filesAt(100, '{name}'.repeat(160)), 'n'.repeat(40_000)],
  ['a message of a name without end', { message: '{name}'.repeat(10_900), files: [] }, 'n'.repeat(40_000)],
  ['a branch of a name without end', { branch: '{name}'.repeat(42), files: [] }, 'n'.repeat(1_000_000)],
  ['long fields', changesOf(`[?(@${'.a'.repeat(470)}`)],
  ['as many fields as are read', changesOf('.a'.repeat(32))],
  ['fields of 32 steps', changesOf(`.${'a'.repeat(28)}`.repeat(32))],
  ['short fields, all wrong', changesOf('..')],
  [
    'contents of what begins web tokens',
    { files: Array.from({ length: 4 }, (_, i) => ({ path: `a${i}`, content: '-eyJ'.repeat(16_000) })) },
  ],
]

t.test('a spec is judged in a moment, whatever a tenant sends', async (t) => {
  judged(resourceOf(filesAt(1, 'a')))
  for (const [title, spec, name] of HOSTILE) {
    const [one, other] = [judged(resourceOf(spec, name)), judged(resourceOf(spec, name))]
    const took = Math.min(one.took, other.took)
    t.ok(took < allowedMs(30), `${title}: ${took.toFixed(0)} ms`)
  }
})

t.test('texts of names that are too long take no more memory than their limit', async (t) => {
  const before = process.memoryUsage().rss
  for (const [, spec, name] of HOSTILE) judged(resourceOf(spec, name))
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024
  t.ok(grown < 100, `${grown.toFixed(0)} MiB`)
})

t.test('a path that is too long with its names has that error alone', async (t) => {
  const { errors } = judged(resourceOf(filesAt(2, '{name}/'.repeat(5))))
  t.equal(errors.length, 2)
  for (const error of errors)
    t.match(error, { field: /^spec\.files\[\d\]\.path$/, message: /at most 1024 are allowed/ })
})

t.test(
  'the paths of fields have a limit together, and one that is not reached changes nothing',
  async (t) => {
    const field = `.${'a'.repeat(86)}`
    t.ok(judged(resourceOf(changesOf(field))).sound, 'as many as are read')
    t.match(judged(resourceOf(changesOf(`${field}a`.repeat(2)))).errors, [
      { field: 'spec.files', message: /paths of fields with more than the 262144 characters/ },
    ])
  },
)
