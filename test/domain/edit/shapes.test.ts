import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { editText } from '../../../functions/domain/edit/edit-text.ts'
import { isMapping, isSequence, type JSONNode } from '../../../functions/domain/manifest/json-node.ts'
import { parseJSONText, writeJSON } from '../../../functions/domain/manifest/json-text.ts'
import { toYAML } from '../../../functions/domain/manifest/yaml-text.ts'
import { sized } from '../../harness/sample.ts'
import { compactJSON, nastyNode } from '../fixtures/nasty.ts'
import { expected, readByPackage } from '../fixtures/yaml-readers.ts'
import { changedLines, edited } from './edited.ts'
import { SHAPES, STYLES, textOf } from './shapes.ts'

t.test('in 200 files of 8 shapes, fields are set, and their lines alone change', async (t) => {
  for (const shape of SHAPES) {
    for (const [number, style] of STYLES.entries()) {
      const values = shape.fields.map((_, at) => `v${at}`)
      const before = textOf(shape, style, values)
      const options = shape.document === undefined ? {} : { document: shape.document }
      const at = number % shape.fields.length
      const field = shape.fields[at] ?? ''
      const after = textOf(shape, style, values.with(at, 'v77'))
      const found = edited(before, [[field, 'v77']], options)
      if (found !== after) t.equal(found, after, `${shape.name}, style ${number}, ${field}`)
      if (changedLines(before, found).length !== 2)
        t.fail(`${shape.name}, style ${number}, ${field}: more lines`)
      const all = edited(
        before,
        shape.fields.map((field) => [field, 'v78'] as const),
        options,
      )
      if (
        all !==
        textOf(
          shape,
          style,
          values.map(() => 'v78'),
        )
      )
        t.fail(`${shape.name}, style ${number}: all at once`)
    }
  }
  t.equal(SHAPES.length * STYLES.length, 200)
})

/** The way to any one value of a tree, as text and as keys. */
function pathsOf(node: JSONNode): readonly string[] {
  const inner = (step: string, value: JSONNode): readonly string[] => [
    step,
    ...pathsOf(value).map((path) => step + path),
  ]
  if (isSequence(node)) return node.flatMap((item, at) => inner(`[${at}]`, item))
  if (isMapping(node)) return [...node].flatMap(([key, value]) => inner(`[${JSON.stringify(key)}]`, value))
  return []
}

function withValue(
  node: JSONNode,
  steps: ReturnType<typeof parseFieldPath>['steps'],
  value: JSONNode,
): JSONNode {
  const [step, ...rest] = steps
  if (step === undefined) return value
  if (isSequence(node) && step.kind === 'index')
    return node.map((item, at) => (at === step.index ? withValue(item, rest, value) : item))
  if (!isMapping(node) || step.kind !== 'key') return node
  return new Map([...node, [step.key, withValue(node.get(step.key) ?? null, rest, value)]])
}

/** The members at the top, each with a comment before it. */
function blocksOf(node: JSONNode): readonly string[] {
  if (!isMapping(node)) return []
  return [...node].map(([key, value], at) => `# member ${at}\n${toYAML(new Map([[key, value]]))}`)
}

const edit = fc.tuple(nastyNode, nastyNode, fc.nat(), fc.boolean())

t.test(
  'any field of any tree is set: the tree is the old one with this change, and the other members keep their lines',
  async () => {
    const property = fc.property(edit, ([node, value, choice, isNew]) => {
      const paths = pathsOf(node).filter((path) => path.length <= 900)
      const chosen =
        isNew && isMapping(node) && node.size > 0
          ? '["new: #key"]'
          : paths[choice % Math.max(1, paths.length)]
      if (!isMapping(node) || chosen === undefined || compactJSON(node).includes('k'.repeat(1_001))) return
      const path = parseFieldPath(chosen)
      const blocks = blocksOf(node)
      const set = [{ field: path, value }]
      const text = Buffer.from(editText(Buffer.from(blocks.join('')), { filePath: 'a.yaml', set })).toString()
      const wanted = JSON.stringify(expected(withValue(node, path.steps, value)))
      if (JSON.stringify(readByPackage(text, '1.2')) !== wanted) throw new Error(`another tree:\n${text}`)
      const [first] = path.steps
      const changed = [...node.keys()].findIndex((key) => first?.kind === 'key' && key === first.key)
      for (const [at, block] of blocks.entries())
        if (at !== changed && !text.includes(block)) throw new Error(`member ${at} has changed:\n${text}`)
    })
    fc.assert(property, { numRuns: sized(60, 3_000) })
  },
)

t.test('the same in JSON', async () => {
  const property = fc.property(edit, ([node, value, choice, isCompact]) => {
    const paths = pathsOf(node).filter((path) => path.length <= 1_000)
    const chosen = paths.length === 0 ? undefined : paths[choice % paths.length]
    if (chosen === undefined) return true
    const pieces: string[] = []
    writeJSON(node, (piece) => pieces.push(piece))
    const path = parseFieldPath(chosen)
    const before = isCompact ? compactJSON(node) : pieces.join('')
    const bytes = editText(Buffer.from(before), { filePath: 'a.json', set: [{ field: path, value }] })
    const text = Buffer.from(bytes).toString()
    const wanted = withValue(node, path.steps, value)
    return (
      compactJSON(parseJSONText(text)) === compactJSON(wanted) && (!isCompact || text === compactJSON(wanted))
    )
  })
  fc.assert(property, { numRuns: sized(60, 3_000) })
})
