import t from 'tap'
import {
  editSteps,
  editText,
  isReadAtOnce,
  JSON_AT_ONCE,
  type TextEdit,
} from '../../../functions/domain/edit/edit-text.ts'
import { EDIT_LIMIT } from '../../../functions/domain/edit/refusal.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { AMBIGUOUS, CONTROLS, LINES, shown, SYNTAX } from '../fixtures/traps.ts'
import { readByPackage, type Tagged } from '../fixtures/yaml-readers.ts'
import { changedLines, edited, type Sets } from './edited.ts'

const CONTEXTS = `plain: a # note
single: 'a'
double: "a"
literal: |
  a
  b
list:
- a
- - a
flow: {x: a, z: [a, 'a']}
last: a
`
const FIELDS = [
  'plain',
  'single',
  'double',
  'literal',
  'list[0]',
  'list[1][0]',
  'flow.x',
  'flow.z[0]',
  'flow.z[1]',
  'flow.new',
  'new',
]

/** The value at a path of names and numbers. */
function valueAt(value: Tagged, field: string): unknown {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '')
  return parts.reduce<unknown>((node, part) => {
    if (Array.isArray(node)) return node[Number(part)]
    return membersOf(node).find(([key]) => key === `s${part}`)?.[1]
  }, value)
}

function membersOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  return typeof value === 'object' && value !== null && 'members' in value && Array.isArray(value.members)
    ? value.members
    : []
}

t.test(
  'a value never ends its scalar, begins a document or becomes another type, wherever it is set',
  async (t) => {
    const bodies = [
      'a\n---\nb: c\n',
      'a"\nb: c',
      "a'\nb: c",
      '\n...\n',
      'a #',
      '*a',
      '&a b',
      '!!int 1',
      '{{ x }}',
      'a: b',
      '- a',
      '? a',
      '%YAML 1.1',
    ]
    for (const text of [...bodies, ...AMBIGUOUS, ...SYNTAX, ...CONTROLS, ...LINES]) {
      const after = edited(
        CONTEXTS,
        FIELDS.map((field) => [field, text] as const),
      )
      for (const version of ['1.1', '1.2'] as const) {
        const found = readByPackage(after, version)
        const wrong = FIELDS.filter((field) => valueAt(found, field) !== `s${text}`)
        if (wrong.length > 0) t.fail(`${shown(text)} is read as another at ${wrong.join()} in ${version}`)
        if (membersOf(found).length !== 8 || valueAt(found, 'last') !== 'sa')
          t.fail(`${shown(text)} changes more`)
      }
    }
    t.ok(FIELDS.length > 10)
  },
)

t.test('aliases to a gigabyte are never followed', async (t) => {
  const level = (at: number): string =>
    `l${at}: &l${at} [${Array.from({ length: 10 }, () => `*l${at - 1}`).join(', ')}]\n`
  const bomb = `l0: &l0 ["${'x'.repeat(10)}"]\n${Array.from({ length: 12 }, (_, at) => level(at + 1)).join('')}image: a\n`
  const before = process.memoryUsage().heapUsed
  t.equal(changedLines(bomb, edited(bomb, [['.image', 'b']])).join('|'), '-image: a|+image: b')
  t.throws(() => edited(bomb, [['.l12[0][0]', 'b']]), { reason: 'PathConflict', message: /alias on the way/ })
  t.ok(process.memoryUsage().heapUsed - before < 50e6)
})

t.test('nesting without end and too many parts are refused before they are read to the end', async (t) => {
  const size = EDIT_LIMIT - 10
  for (const [unit, filePath] of [
    ['[', 'a.yaml'],
    ['- ', 'a.yaml'],
    ['? ', 'a.yaml'],
    ['{"a":', 'a.json'],
    ['[', 'a.json'],
  ] as const) {
    const text = unit.repeat(size / unit.length)
    t.throws(() => edited(text, [['.a', 1]], { filePath }), {
      reason: 'NotSupported',
      retry: 'slow',
      message: /nested deeper than 200 levels/,
    })
  }
  for (const unit of ['\n', '# c\n', '&a ', '!a ']) {
    const text = `a:\n${unit.repeat(size / unit.length)}`
    t.throws(() => edited(text, [['.a', 1]]), {
      reason: 'NotSupported',
      message: /more values, lines or comments/,
    })
  }
  // Of few parts, but the library makes two texts of each line.
  for (const [begin, end] of [
    ['|\n  x\n', '  y\n'],
    ['>+\n', ''],
    ['"', '"\n'],
  ] as const) {
    const text = `a: 1\nb: ${begin}${'\n'.repeat(size - 20)}${end}`
    t.throws(() => edited(text, [['.a', 2]]), {
      reason: 'NotSupported',
      message: /more values, lines or comments/,
    })
  }
  const lines = `a: 1\nb: |\n${'  x\n'.repeat(400_000)}`
  t.ok(edited(lines, [['.a', 2]]) === lines.replace('a: 1', 'a: 2'), 'many short lines')
})

/** A list of so many empty ones, within so many others. */
function nested(items: number, depth: number): unknown {
  let value: unknown = Array.from({ length: items }, () => [])
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

// Each line of a value has the indentation of its place.
t.test('what a value takes with its indentation is counted before it is written', async (t) => {
  const wide = ' '.repeat(4_000)
  const many = 'x\n'.repeat(2_000)
  const deepLiteral = [[[[[[[[[['x\n'.repeat(110_000)]]]]]]]]]]
  const json = `{\n${wide}"a": {}, "b": [\n${wide}], "c": 1\n}\n`
  const cases: readonly (readonly [filePath: string, text: string, sets: Sets])[] = [
    ['v.json', json, [['.a', nested(1_700, 60)]]],
    ['v.json', json, [['.a.b', nested(1_700, 60)]]],
    ['v.json', json, [['.d', nested(600, 0)]]],
    ['v.json', '{}', [['.a', nested(1_700, 990)]]],
    // Each alone has room.
    ['v.json', json, ['.a', '.c', '.d', '.e', '.f'].map((field) => [field, nested(120, 0)])],
    ['v.yaml', `a:\n${wide}b: 1\n`, [['.a.b', nested(1_700, 60)]]],
    ['v.yaml', `a:\n${wide}b: 1\n`, [['.a.b', many]]],
    ['v.yaml', `a:\n${wide}b: 1\n`, [['.a.c', many]]],
    ['v.yaml', 'a: 1\n', [['.a', deepLiteral]]],
    [
      'v.yaml',
      `a:\n${' '.repeat(500_000)}b: 1\n`,
      ['.a.c', '.a.d', '.a.e', '.a.f', '.a.g'].map((field) => [field, 1]),
    ],
  ]
  for (const [filePath, text, sets] of cases) {
    const before = process.resourceUsage().maxRSS
    t.throws(() => edited(text, sets, { filePath }), {
      reason: 'NotSupported',
      retry: 'slow',
      message: new RegExp(`${filePath} takes more than 2 MiB`),
    })
    const grown = (process.resourceUsage().maxRSS - before) / 1024
    t.ok(grown < 100, `${filePath} ${sets[0]?.[0]}: ${grown.toFixed(0)} MiB`)
  }
  // Each is twice as long as JSON, and the second takes the place of the first.
  const [quotes, lines] = ['"', '\n'].map((sign) => sign.repeat(EDIT_LIMIT * 0.45))
  const sets: Sets = [
    ['.a', { b: quotes }],
    ['.a.b', lines],
  ]
  t.same(JSON.parse(edited('{"a": {"b": 1}}', sets, { filePath: 'v.json' })), { a: { b: lines } })
  const after = edited(json, [['.a', nested(50, 1)]], { filePath: 'v.json' })
  t.same(JSON.parse(after), { a: nested(50, 1), b: [], c: 1 })
})

t.test('a file of errors alone is refused at the first', async (t) => {
  for (const unit of ["'' ", ', ', '? ']) {
    const text = `a: [${unit.repeat(10_000)}`
    t.throws(() => edited(text, [['.a', 1]]), {
      reason: 'PathConflict',
      message: /not valid YAML \(line 1\)/,
    })
  }
  for (const sign of [']', '}']) {
    const text = `a:\n  b${sign.repeat(400_000)}\n${sign.repeat(200_000)}`
    const before = cpuTime()
    t.throws(() => edited(text, [['.a', 1]]), {
      reason: 'PathConflict',
      message: /not valid YAML \(line 3\)/,
    })
    const took = cpuTime() - before
    t.ok(took < allowedMs(50), `${sign}: ${took.toFixed(0)} ms`)
  }
})

/** An edit of so many fields, each of which is there, or else new. */
function many(filePath: string, fields: number): TextEdit {
  const set = Array.from({ length: fields }, (_, at) => ({ field: parseFieldPath(`.k${at}`), value: 'y' }))
  return { filePath, set }
}

/** A JSON object of that size, or, without its braces and commas, YAML. */
function objectOf(filePath: string, size: number): Buffer {
  const members = Array.from({ length: Math.floor(size / 13) }, (_, at) => `"k${at}": 1`)
  return Buffer.from(filePath.endsWith('.json') ? `{${members.join(',')}}` : `${members.join('\n')}\n`)
}

t.test('what is read at once is set in a short time, however many fields', async (t) => {
  for (const { filePath, size, fields } of [
    { filePath: 'a.json', size: 250_000, fields: 16 },
    { filePath: 'a.json', size: 4_000, fields: 1_000 },
    { filePath: 'a.json', size: 600_000, fields: 1_000 },
    { filePath: 'a.yaml', size: 12_000, fields: 100 },
    { filePath: 'a.yaml', size: 12_000, fields: 1_000 },
  ]) {
    const edit = many(filePath, fields)
    const steps = editSteps(objectOf(filePath, size), edit)
    let took = 0
    for (let step = steps.next(); step.done !== true && isReadAtOnce(edit, step.value);) {
      const before = cpuTime()
      step = steps.next()
      took = Math.max(took, cpuTime() - before)
    }
    t.ok(took < allowedMs(100), `${filePath}, ${size} bytes, ${fields} fields: ${took.toFixed(0)} ms`)
  }
})

// Halfway between two doubles: to read such a number takes a hundred times as long as usual ones.
const SLOW_NUMBER = (9007199254740993n * 5n ** 1075n).toString().replace(/^(.)/, '$1.') + 'e-308'

t.test('a number with which many items are compared is read once for each look', async (t) => {
  const items = Array.from({ length: 8_900 }, () => '{"":1}')
  const nearest = String(Number(SLOW_NUMBER))
  const bytes = Buffer.from(`{"l":[${items.join()},{"":${nearest},"c":7}]}`)
  const isThere = `.l[?(@[""]==${SLOW_NUMBER})]`
  const set = Array.from({ length: 64 }, (_, at) => ({
    field: parseFieldPath(`${isThere}.b${at}`),
    value: 'y',
    document: { field: parseFieldPath(`${isThere}.c`), value: { digits: '7' } },
  }))
  const edit = { filePath: 'a.json', set }
  t.notOk(isReadAtOnce(edit, bytes.length), 'the document is looked for as well')
  const before = cpuTime()
  t.match(Buffer.from(editText(bytes, edit)).toString(), `${nearest},"c":7,"b0":"y","b1":"y"`)
  const took = cpuTime() - before
  t.ok(took < allowedMs(150), `${took.toFixed(0)} ms`)
})

t.test('JSON, and small YAML, is read at once, unless many fields are set', async (t) => {
  t.ok(isReadAtOnce(many('a.json', 16), JSON_AT_ONCE))
  t.notOk(isReadAtOnce(many('a.json', 17), JSON_AT_ONCE))
  t.notOk(isReadAtOnce(many('a.json', 1), EDIT_LIMIT))
  t.ok(isReadAtOnce(many('a.json', 1_000), 4_000))
  t.ok(isReadAtOnce(many('a.yaml', 100), 1_000))
  t.notOk(isReadAtOnce(many('a.yaml', 101), 1_000))
  t.notOk(isReadAtOnce(many('a.yaml', 1), EDIT_LIMIT))
})
