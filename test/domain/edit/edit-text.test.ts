import t from 'tap'
import {
  editSteps,
  editText,
  ROUNDS_LIMIT,
  type KeptReading,
} from '../../../functions/domain/edit/edit-text.ts'
import { jsonNode } from '../../../functions/domain/manifest/json-node.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { changedLines, edited, type EditOptions, type Sets } from './edited.ts'

const VALUES = `# Default values
image:
  repository: nginx   # where it is
  tag: "1.2.3" # the tag
  pullPolicy: 'Always'

resources: {}
flow: { a: 1, b: [x, y] }
script: |
  one
  two

folded: >-
  text
  more
# about the list
list:
  - name: a
    value: 1 # one
  - name: b
    value: "2"
empty:
last: 5
`

/** What is set in VALUES, and the lines that change. */
const CHANGES: readonly (readonly [string, Sets, string])[] = [
  ['double quotes stay', [['image.tag', '1.2.4']], '-  tag: "1.2.3" # the tag|+  tag: "1.2.4" # the tag'],
  ['single quotes stay', [['image.pullPolicy', "it's"]], `-  pullPolicy: 'Always'|+  pullPolicy: 'it''s'`],
  [
    'a text that reads as another type is quoted',
    [['image.repository', 'yes']],
    '-  repository: nginx   # where it is|+  repository: "yes"   # where it is',
  ],
  ['a number is not quoted', [['image.tag', 7]], '-  tag: "1.2.3" # the tag|+  tag: 7 # the tag'],
  ['an empty value is filled', [['.empty', 'x']], '-empty:|+empty: x'],
  ['within brackets', [['.flow.b[1]', 'z]']], "-flow: { a: 1, b: [x, y] }|+flow: { a: 1, b: [x, 'z]'] }"],
  [
    'a new field within braces',
    [['.flow.c', 'q']],
    '-flow: { a: 1, b: [x, y] }|+flow: { a: 1, b: [x, y], c: q }',
  ],
  ['a new field in empty braces', [['.resources.cpu', '1,5']], '-resources: {}|+resources: {cpu: "1,5"}'],
  ['a new field beside quoted ones', [['.image.digest', 'x']], "+  digest: 'x'"],
  ['a new mapping', [['.image.args', { a: [1] }]], '+  args:|+    a:|+    - 1'],
  ['a new field of an item', [['.list[?(@.name=="a")].extra', true]], '+    extra: true'],
  ['a literal instead of a literal', [['.script', 'three\n']], '-  one|-  two|+  three'],
  ['one line instead of a literal', [['.script', 'x']], '-script: ||-  one|-  two|+script: x'],
  [
    'a literal instead of folded lines',
    [['.folded', 'a\nb\n']],
    '-folded: >-|-  text|-  more|+folded: ||+  a|+  b',
  ],
  [
    'a mapping instead of a list',
    [['.list', { a: 1 }]],
    '-  - name: a|-    value: 1 # one|-  - name: b|-    value: "2"|+  a: 1',
  ],
  [
    'a value instead of a list',
    [['.list', 'x']],
    '-list:|-  - name: a|-    value: 1 # one|-  - name: b|-    value: "2"|+list: x',
  ],
  ['a list instead of nothing', [['.empty', [1, { a: 2 }]]], '+  - 1|+  - a: 2'],
  [
    'a mapping instead of an item',
    [['.list[0]', { z: 'a\nb\n' }]],
    '-  - name: a|-    value: 1 # one|+  - z: ||+      a|+      b',
  ],
  ['what would begin a document', [['.last', 'a\n---\nb: c\n']], '-last: 5|+last: ||+  a|+  ---|+  b: c'],
  [
    'what would end a quoted text',
    [['image.tag', 'x" # "']],
    '-  tag: "1.2.3" # the tag|+  tag: "x\\" # \\"" # the tag',
  ],
  [
    'the value that is there',
    [
      ['.list[1].value', '2'],
      ['.script', 'one\ntwo\n'],
      ['.flow.a', 1],
    ],
    '',
  ],
]

for (const [title, sets, lines] of CHANGES) {
  t.test(`${title}: only these lines change`, async (t) => {
    t.equal(changedLines(VALUES, edited(VALUES, sets)).join('|'), lines)
    const dos = VALUES.replaceAll('\n', '\r\n')
    t.equal(edited(dos, sets), edited(VALUES, sets).replaceAll('\n', '\r\n'), 'with CRLF')
    t.equal(edited(`\ufeff${VALUES}`, sets), `\ufeff${edited(VALUES, sets)}`, 'with a byte order mark')
  })
}

t.test('several fields are set, one after the other', async (t) => {
  const sets: Sets = [
    ['.image.tag', 'a'],
    ['.image.new', {}],
    ['.image.new.deep', 'x'],
    ['.image.tag', 'b'],
    ['.list[?(@.name=="a")].name', 'c'],
    ['.list[?(@.name=="c")].value', 2],
  ]
  const one = sets.reduce((text, set) => edited(text, [set]), VALUES)
  t.equal(edited(VALUES, sets), one)
  t.match(one, 'tag: "b" # the tag\n  pullPolicy: \'Always\'\n  new: {deep: x}\n')
})

t.test('a value that is there already keeps its form', async (t) => {
  const text = 'a: >-\n  text\n  more\nb: {c: [x,z]}\nd: "z"\n'
  t.equal(
    edited(text, [
      ['.a', 'text more'],
      ['.b', { c: ['x', 'z'] }],
      ['.d', 'z'],
    ]),
    text,
  )
})

t.test('comments below a key stay where its value is replaced by one on its line', async (t) => {
  const text = 'a: # one\n  # two\n\n  b: 1\nc: 2\n'
  t.equal(edited(text, [['.a', 3]]), 'a: 3 # one\n  # two\n\nc: 2\n')
  t.equal(edited(text, [['.a', { d: 1 }]]), 'a: # one\n  # two\n\n  d: 1\nc: 2\n')
})

t.test('a change that cannot be made in place is refused, and never written', async (t) => {
  for (const [text, field] of [
    ['{a, b: 1}\n', '.a'],
    ['? a\n? b\n', '.a'],
    ['a:\n  ? b\n', '.a.b'],
  ] as const) {
    t.throws(
      () => edited(text, [[field, 'x y']]),
      { reason: 'NotSupported', retry: 'slow', message: /cannot be made in place/ },
      text,
    )
  }
})

t.test('a file without a final newline keeps that', async (t) => {
  t.equal(edited('a: 1\nb: 2', [['.b', 3]]), 'a: 1\nb: 3')
  t.equal(edited('a: 1\nb: 2', [['.c', 'x\ny\n']]), 'a: 1\nb: 2\nc: "x\\ny\\n"')
  t.equal(edited('a:\n  b: 1', [['.a', { c: 1 }]]), 'a:\n  c: 1')
})

const DOCUMENTS = '# top\n---\nkind: A\nn: 1\n---\nkind: B\nn: 2\n...\n---\n# nothing\n'

t.test('of several documents one is chosen', async (t) => {
  const set: Sets = [['.n', 3]]
  const choices: readonly (readonly [EditOptions['document'], string])[] = [
    [0, '-n: 1|+n: 3'],
    [1, '-n: 2|+n: 3'],
    [{ field: parseFieldPath('.kind'), value: 'B' }, '-n: 2|+n: 3'],
    [{ field: parseFieldPath('.n'), value: { digits: '1' } }, '-n: 1|+n: 3'],
  ]
  for (const [document, lines] of choices) {
    if (document === undefined) continue
    t.equal(changedLines(DOCUMENTS, edited(DOCUMENTS, set, { document })).join('|'), lines)
  }
})

/** Texts, what is set in them, and the sentence about it. */
const REFUSED: readonly (readonly [string, Sets, RegExp, EditOptions?])[] = [
  [VALUES, [['.image.other', 1]], /no field \.image\.other, and mustExist is set/, { mustExist: true }],
  [
    VALUES,
    [['.nothing.at', 1]],
    /no field \.nothing\.at: the top has no such key, and only the last step is created/,
  ],
  [VALUES, [['.list[2]', 1]], /there is a list of 2 items at step 1/],
  [VALUES, [['.list.name', 1]], /there is a list of 2 items at step 1/],
  [VALUES, [['.last.x', 1]], /there is no mapping or list at step 1/],
  [VALUES, [['.empty.x', 1]], /there is no mapping or list at step 1/],
  ['- n: hunter2\n- n: hunter2\n', [['[?(@.n=="hunter2")].x', 1]], /2 items of the list at the top match/],
  ['', [['.a', 1]], /is empty/],
  ['# nothing\n', [['.a', 1]], /is empty/],
  ['hunter2', [['.a', 1]], /there is no mapping or list at the top/],
  ['a: hunter2\n\tb: hunter2\n', [['.a', 1]], /is not valid YAML \(line 2\)/],
  ['x: y\na:\n  b: 1\n  c: [hunter2\nd: 1\n', [['.a', 1]], /is not valid YAML \(line [45]\)/],
  ['a: "hunter2\n', [['.a', 1]], /is not valid YAML/],
  ['a: *hunter2\n', [['.a', 1]], /alias without an anchor/],
  ['a: 1\na: hunter2\n', [['.a', 1]], /a key twice \(line 2\)/],
  ['a: hunter2\u0007\n', [['.a', 1]], /a control character in line 1/],
  ['a: hunter2\rb: 1\n', [['.a', 1]], /a control character in line 1/],
  ['a: {{ .hunter2 }}\n', [['.a', 1]], /of a template/],
  ['{{- if .hunter2 }}\na: 1\n{{- end }}\n', [['.a', 1]], /is not valid YAML|of a template/],
  ['a: !hunter2 1\n', [['.a', 1]], /a tag at the field/],
  ['a: &hunter2\n  b: 1\nc: *hunter2\n', [['.a.b', 1]], /within an anchor/],
  ['a: &hunter2 1\nc: *hunter2\n', [['.a', 1]], /an anchor at the field/],
  ['a:\n  b: &hunter2 1\nc: *hunter2\n', [['.a', 1]], /an anchor at the field/],
  ['a: &hunter2\n  b: 1\nc: *hunter2\n', [['.c.b', 1]], /an alias on the way/],
  [DOCUMENTS, [['.n', 1]], /has 2 documents; say with document/],
  [DOCUMENTS, [['.n', 1]], /none has the number 2/, { document: 2 }],
  [
    DOCUMENTS,
    [['.n', 1]],
    /has no document whose field \.kind/,
    { document: { field: parseFieldPath('.kind'), value: 'hunter2' } },
  ],
  [
    'n: 1\n---\nn: 1\n',
    [['.n', 2]],
    /has 2 documents whose field/,
    { document: { field: parseFieldPath('.n'), value: { digits: '1' } } },
  ],
  ['{"a":hunter2}', [['.a', 1]], /is not valid JSON \(line 1\)/, { filePath: 'a.json' }],
  ['{"a":1} // hunter2', [['.a', 1]], /is not valid JSON/, { filePath: 'a.json' }],
  ['{"a":1,"a":"hunter2"}', [['.a', 1]], /a key twice/, { filePath: 'a.json' }],
]

function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}

for (const [text, sets, said, options] of REFUSED) {
  t.test(
    `${JSON.stringify(text.slice(0, 30))} with ${JSON.stringify(sets)} is refused: ${said.source}`,
    async (t) => {
      t.throws(() => edited(text, sets, options), { reason: 'PathConflict', message: said })
      const { message } = thrownBy(() => edited(text, sets, options))
      t.match(message, /^The file [^\n]*\.$/)
      t.notMatch(
        message.replaceAll('(@.n=="hunter2")', ''),
        'hunter2',
        'a field that the user wrote may be in it',
      )
    },
  )
}

t.test('what is there before an alias, a merge or a tag can be set', async (t) => {
  const text = 'a: &x\n  b: 1\nc: *x\nd:\n  <<: *x\n  e: !custom 2\nf: &unused 3 # note\n'
  t.equal(changedLines(text, edited(text, [['.c', 2]])).join('|'), '-c: *x|+c: 2')
  t.equal(
    changedLines(text, edited(text, [['.d.b', 2]])).join('|'),
    '+  b: 2',
    'beside what comes from a merge',
  )
  t.equal(
    changedLines(text, edited(text, [['.f', 4]])).join('|'),
    '-f: &unused 3 # note|+f: &unused 4 # note',
  )
})

t.test('more than 2 MiB, before or after, and what is not UTF-8 are refused', async (t) => {
  const large = `a: ${'x'.repeat(2 * 1024 * 1024 - 3)}`
  const set: Sets = [['.b', 1]]
  t.throws(() => edited(`${large}x`, set), {
    reason: 'NotSupported',
    retry: 'slow',
    message: /more than 2 MiB/,
  })
  t.throws(() => edited(large, set), { reason: 'NotSupported', message: /more than 2 MiB/ })
  const setting = { filePath: 'a', set: [{ field: parseFieldPath('.a'), value: null }] }
  t.throws(() => editText(Uint8Array.of(0x61, 0x3a, 0xff), setting), {
    reason: 'PathConflict',
    message: /UTF-8/,
  })
  t.throws(() => editText(Buffer.from('a: 1', 'utf16le'), setting), {
    reason: 'PathConflict',
    message: /control character/,
  })
})

t.test('a new field in braces stands as the others do', async (t) => {
  for (const [text, field, after, filePath] of [
    ['a: {\n  b: 1,\n}\n', '.a.c', 'a: {\n  b: 1,\n  c: 2,\n}\n'],
    ['a: {\n  b: 1\n}\n', '.a.c', 'a: {\n  b: 1,\n  c: 2\n}\n'],
    ['a: {\n  b: 1 # one\n}\n', '.a.c', 'a: {\n  b: 1, # one\n  c: 2\n}\n'],
    ['a: {\n  b: 1, # one\n}\n', '.a.c', 'a: {\n  b: 1, # one\n  c: 2,\n}\n'],
    ['{\n  "a": {}\n}\n', '.a.c', '{\n  "a": {\n    "c": 2\n  }\n}\n', 'a.json'],
    ['{"a":{}}', '.a.c', '{"a":{"c":2}}', 'a.json'],
  ] as const) {
    const edit = {
      filePath: filePath ?? 'a.yaml',
      set: [{ field: parseFieldPath(field), value: jsonNode(2) }],
    }
    t.equal(Buffer.from(editText(Buffer.from(text), edit)).toString(), after)
  }
})

/** How often the text is read, and what it is afterwards. */
function stepsOf(text: string, sets: Sets, filePath = 'a.yaml', kept?: KeptReading) {
  const set = sets.map(([field, value]) => ({ field: parseFieldPath(field), value: jsonNode(value) }))
  const steps = editSteps(Buffer.from(text), { filePath, set }, kept)
  let reads = 0
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return { reads, after: Buffer.from(value).toString() }
    reads += value < text.length ? 0 : 1
  }
}

t.test('fields that do not depend on each other are set in one round: the text is read twice', async (t) => {
  const many = Array.from({ length: 20 }, (_, i) => [`.new${i}`, i] as const)
  const flat = many.map((_, i) => `new${i}: ${i}\n`).join('')
  for (const [text, sets, after, filePath] of [
    [
      'a: 1\nb: 2\n',
      [
        ['.a', 3],
        ['.b', 4],
        ['.c', 5],
      ],
      'a: 3\nb: 4\nc: 5\n',
    ],
    ['a: 1\n', many, `a: 1\n${flat}`],
    [
      'a: 1\nb:\n  c: 1\n  # d\n',
      [
        ['.b.x', 'p\nq\n'],
        ['.b.u', [1]],
        ['.b.z', 2],
      ],
      'a: 1\nb:\n  c: 1\n  x: |\n    p\n    q\n  u:\n  - 1\n  z: 2\n  # d\n',
    ],
    [
      'a: {b: 1}\n',
      [
        ['.a.c', 2],
        ['.a.d', 3],
      ],
      'a: {b: 1, c: 2, d: 3}\n',
    ],
    [
      '{"a": 1}',
      [
        ['.b', 2],
        ['.c', 3],
      ],
      '{"a": 1, "b": 2, "c": 3}',
      'a.json',
    ],
    [
      '{\n  "a": 1\n}\n',
      [
        ['.b', 2],
        ['.c', 3],
      ],
      '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n',
      'a.json',
    ],
  ] as const)
    t.same(stepsOf(text, sets, filePath), { reads: 2, after })
})

t.test('what the edit before has made is not read again', async (t) => {
  for (const [filePath, text] of [
    ['a.yaml', `a: 1\nb: 2 # ours\nc: "${'x'.repeat(100)}"\n`],
    ['a.json', `{"a": 1, "b": 2, "c": "${'x'.repeat(100)}"}\n`],
  ] as const) {
    const kept: KeptReading = {}
    const first = stepsOf(text, [['.a', 100]], filePath, kept)
    t.equal(first.reads, 2)
    const second = stepsOf(first.after, [['.b', 200]], filePath, kept)
    t.same(second, { ...stepsOf(first.after, [['.b', 200]], filePath), reads: 1 })
    t.throws(() => stepsOf(second.after, [['.a.b', 1]], filePath, kept), {
      reason: 'PathConflict',
      message: /a\.(yaml|json)/,
    })
    t.equal(stepsOf(second.after, [['.a', 300]], filePath, kept).reads, 1, 'nor what one has refused')
    t.equal(stepsOf(text, [['.a', 300]], filePath, kept).reads, 2, 'another text is read')
  }
  const kept: KeptReading = {}
  const { after } = stepsOf('{"a": 1}\n', [['.a', 100]], 'a.json', kept)
  t.equal(stepsOf(after, [['.a', 200]], 'a.yaml', kept).reads, 2, 'and so is the same one in another format')
  t.throws(() => stepsOf('{{ x }}', [['.a', 1]], 'a.yaml', kept), {
    reason: 'PathConflict',
    message: /template/,
  })
  t.equal(kept.latest, undefined, 'what cannot be read is not kept, nor anything beside it')
})

t.test('fields that depend on each other are set in several rounds, but not without end', async (t) => {
  for (const [text, sets, after] of [
    [
      'a: 1\n',
      [
        ['.b', { c: 1 }],
        ['.b.d', 2],
      ],
      'a: 1\nb:\n  c: 1\n  d: 2\n',
    ],
    [
      'a: 1\n',
      [
        ['.b', 1],
        ['.b', 2],
      ],
      'a: 1\nb: 2\n',
    ],
    [
      'a: {}\n',
      [
        ['.a.b', 1],
        ['.a.c', 2],
      ],
      'a: {b: 1, c: 2}\n',
    ],
    [
      'a:\n  b: 1\n',
      [
        ['.a.c', 2],
        ['.d', 3],
      ],
      'a:\n  b: 1\n  c: 2\nd: 3\n',
    ],
    [
      '- n: a\n',
      [
        ['[0].n', 'b'],
        ['[?(@.n=="b")].x', 1],
      ],
      '- n: b\n  x: 1\n',
    ],
  ] as const)
    t.same(stepsOf(text, sets), { reads: 3, after })
  const nested = (depth: number): Sets =>
    Array.from({ length: depth }, (_, i) => [`.a${'.b'.repeat(i)}`, { b: 0 }] as const)
  t.match(stepsOf('x: 1\n', nested(ROUNDS_LIMIT)), { reads: ROUNDS_LIMIT + 1 })
  t.throws(() => stepsOf('x: 1\n', nested(ROUNDS_LIMIT + 1)), {
    reason: 'NotSupported',
    retry: 'slow',
    message: /in more than 16 steps/,
  })
})

t.test('fields of several documents are set in one round', async (t) => {
  const [a, b] = ['.n', '.kind'].map(parseFieldPath)
  if (a === undefined || b === undefined) throw new Error('No path')
  const set = [
    { field: a, value: 'x', document: 1 },
    { field: a, value: 'v', document: { field: b, value: 'A' } },
    { field: b, value: 'C', document: 1 },
  ]
  const after = Buffer.from(editText(Buffer.from(DOCUMENTS), { filePath: 'a.yaml', set })).toString()
  t.equal(after, DOCUMENTS.replace('n: 1', 'n: v').replace('n: 2', 'n: x').replace('kind: B', 'kind: C'))
  t.equal([...editSteps(Buffer.from(DOCUMENTS), { filePath: 'a.yaml', set })].length, 2)
})
