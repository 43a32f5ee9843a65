import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { editText } from '../../../functions/domain/edit/edit-text.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import type { JSONNode } from '../../../functions/domain/manifest/json-node.ts'
import { sized } from '../../harness/sample.ts'
import { nastyNode, nastyText } from '../fixtures/nasty.ts'
import { expected, hasPyYAML, readFilesByPyYAML, type Tagged } from '../fixtures/yaml-readers.ts'
import { edited, type Sets } from './edited.ts'
import { oddFile, WORDS } from './odd-files.ts'

type Step = number | string

const change = fc.record({
  text: oddFile,
  value: fc.oneof<fc.Arbitrary<JSONNode>[]>(fc.constantFrom(...WORDS), nastyText, nastyNode),
  choice: fc.nat(),
})

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** The values of a document and the ways to them, and a new key of each mapping. */
function placesOf(value: Tagged, way: readonly Step[] = []): readonly (readonly Step[])[] {
  if (isList(value)) return value.flatMap((item, at) => [[...way, at], ...placesOf(item, [...way, at])])
  if (typeof value !== 'object' || value === null) return []
  const inner = value.members.flatMap(([key, member]) => {
    if (typeof key !== 'string' || !key.startsWith('s')) return []
    const at = [...way, key.slice(1)]
    return [at, ...placesOf(member, at)]
  })
  return [...inner, [...way, 'new']]
}

/** The document with this value there. */
function withValue(value: Tagged, [step, ...rest]: readonly Step[], set: Tagged): Tagged {
  if (step === undefined) return set
  if (isList(value)) return value.map((item, at) => (at === step ? withValue(item, rest, set) : item))
  if (typeof value !== 'object' || value === null) return value
  const key = `s${step}`
  if (!value.members.some(([name]) => name === key)) return { members: [...value.members, [key, set]] }
  return {
    members: value.members.map(([name, member]) => [
      name,
      name === key ? withValue(member, rest, set) : member,
    ]),
  }
}

function isList(value: Tagged): value is readonly Tagged[] {
  return Array.isArray(value)
}

function fieldOf(way: readonly Step[]): string {
  return way.map((step) => `[${JSON.stringify(step)}]`).join('')
}

/** The file with one field set, as both loaders have read it; undefined where that is refused. */
function setOne({ text, value, choice }: Change, loaders: readonly (readonly Tagged[] | string)[]) {
  const read = loaders.find((documents) => typeof documents !== 'string')
  const documents = typeof read === 'object' ? read : []
  const document = choice % Math.max(1, documents.length)
  const places = documents.slice(document, document + 1).flatMap((root) => placesOf(root))
  const way = places[choice % Math.max(1, places.length)] ?? ['k0']
  const set = [{ field: parseFieldPath(fieldOf(way)), value, document }]
  try {
    const after = Buffer.from(editText(Buffer.from(text), { filePath: 'a.yaml', set })).toString()
    return { before: text, way, value: expected(value), document, loaders, after }
  } catch (error) {
    if (error instanceof Failure && error.reason !== 'Internal') return undefined
    throw error
  }
}

t.test(
  'in files of rare forms, PyYAML reads the new value and all others as before, or the change is refused',
  { skip: hasPyYAML() ? false : 'no python3 with PyYAML' },
  async (t) => {
    const cases = fc.sample(change, sized(300, 5_000))
    const befores = readFilesByPyYAML(cases.map(({ text }) => text))
    const tried = cases.map((one, at) => setOne(one, befores[at] ?? []))
    const made = tried.filter((one) => one !== undefined)
    const afters = readFilesByPyYAML(made.map(({ after }) => after))
    const wrong = made.flatMap(({ before, after, way, value, document, loaders }, at) => {
      const isRight = loaders.every((documents, loader) => {
        if (typeof documents === 'string') return true
        const wanted = documents.map((one, i) => (i === document ? withValue(one, way, value) : one))
        return JSON.stringify(wanted) === JSON.stringify(afters[at]?.[loader])
      })
      return isRight ? [] : [{ before, field: fieldOf(way), value, after }]
    })
    const [first] = wrong.toSorted((a, b) => a.before.length - b.before.length)
    t.same(first, undefined, `${wrong.length} of ${made.length} changes are read as another`)
    t.ok(made.length > cases.length / 2, `${made.length} of ${cases.length} changes are made`)
  },
)

/** Files, what is set in them, and what they are then. */
const FORMS: readonly (readonly [title: string, before: string, sets: Sets, after: string])[] = [
  [
    'a word that readers of YAML 1.1 take for another type becomes a text',
    'a: no\nb: 2024-01-01\nc: [12:30:45]\nd: x\n',
    [
      ['.a', 'no'],
      ['.b', '2024-01-01'],
      ['.c[0]', '12:30:45'],
      ['.d', 'x'],
    ],
    'a: "no"\nb: "2024-01-01"\nc: ["12:30:45"]\nd: x\n',
  ],
  [
    'such a word is still found by the text that it shows',
    '- on: no\n  x: 1\n',
    [['[?(@.on=="no")].x', 2]],
    '- on: no\n  x: 2\n',
  ],
  [
    'without a line end at its end, a file does not end in a literal',
    'a: 1\nb: old',
    [['.b', { c: ['x\ny\n'] }]],
    'a: 1\nb: {c: ["x\\ny\\n"]}',
  ],
  [
    'nor does a value before empty lines end in one that keeps them',
    'a: 1\n\nb: 2\n',
    [['.a', { c: 'x\n\n' }]],
    'a: {c: "x\\n\\n"}\n\nb: 2\n',
  ],
  [
    'nor does one before a line of more blanks than its own lines begin with, or of a tab',
    'a: 1\n   \n',
    [
      ['.b', 'x\ny\n'],
      ['.c', { d: 'x\ny\n' }],
    ],
    'a: 1\nb: "x\\ny\\n"\nc: {d: "x\\ny\\n"}\n   \n',
  ],
  ['such as a tab', 'a: 1\n\t\n', [['.b', 'x\ny\n']], 'a: 1\nb: "x\\ny\\n"\n\t\n'],
  [
    'such as below empty lines',
    'a: 1\r\n\r\n    \r\n\r\nb: 2\r\n',
    [['.a', 'x\ny\n']],
    'a: "x\\ny\\n"\r\n\r\n    \r\n\r\nb: 2\r\n',
  ],
  [
    'a line of fewer blanks follows a literal',
    'a: 1\n \n\n  \nb: 2\n',
    [['.a', 'x\ny\n']],
    'a: |\n  x\n  y\n \n\n  \nb: 2\n',
  ],
  [
    'white space at the end of a literal stays in it',
    'a:\n  b: |2\n      x\n     \nc: 1\n',
    [['.a.d', 1]],
    'a:\n  b: |2\n      x\n     \n  d: 1\nc: 1\n',
  ],
  [
    'a question mark in brackets is quoted',
    'a: [x]\nb: {}\n',
    [
      ['.a[0]', 'y?z'],
      ['.b.c', 'y?'],
    ],
    "a: ['y?z']\nb: {c: 'y?'}\n",
  ],
  [
    'the key of an alias has another name',
    'a: &b c\n*b : 1\n',
    [['["*b"]', 2]],
    "a: &b c\n*b : 1\n'*b': 2\n",
  ],
  [
    'a line end of Unicode in quotes is left alone',
    'a: "x\u2028y"\nb: 1\n',
    [['.b', 2]],
    'a: "x\u2028y"\nb: 2\n',
  ],
]

for (const [title, before, sets, after] of FORMS)
  t.test(title, async (t) => {
    t.equal(edited(before, sets), after)
    t.equal(edited(after, sets), after, 'and it has the value then')
  })

/** Files, the field that is set to a text, and the failure. */
const REFUSED = [
  ["? 'a'\nb: 1\n", '.a', 'NotSupported', /in place/],
  ["x:\n  ? !!str 'a'\ny: 1\n", '.x.a', 'NotSupported', /in place/],
  ["? 'a' x\nb: 1\n", '.b', 'PathConflict', /not valid YAML \(line 1\)/],
  ['x:\n  a: |\n    foo', '.x.b', 'NotSupported', /in place/],
  ['x:\n  a: >+\n    foo', '.b', 'NotSupported', /in place/],
  ['|\n- a\n', '.a', 'PathConflict', /not valid YAML \(line 2\)/],
  ['a: 1\n---\n|\n- a\n', '.a', 'PathConflict', /not valid YAML \(line 4\)/],
  ['a: 1 # c\u2028b: 2\n', '.b', 'PathConflict', /a line end of Unicode .* in line 1/],
  ['a: 1\n---\nb: |\n  x\u0085\n', '.a', 'PathConflict', /a line end of Unicode .* in line 4/],
  ['a: 1\n...\n\ufeffa: 2\n', '.a', 'PathConflict', /a byte order mark in line 3/],
  ['a: &a {b: 1}\nc:\n  <<: *a\n', '.c["<<"]', 'PathConflict', /a merge/],
  ['c:\n  <<: {b: 1}\n', '.c["<<"].b', 'PathConflict', /a merge/],
] as const

/** Without the line ends of Unicode, which would end a line of the test's output. */
function shown(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

for (const [before, field, reason, message] of REFUSED)
  t.test(`${shown(before)} is refused for ${field}: ${message.source}`, async (t) => {
    t.throws(() => edited(before, [[field, 'x']]), { reason, message })
  })
