import t from 'tap'
import { documentsIn, jsonOf } from '../../../cli/input/yaml-documents.ts'
import { cpuTime } from '../../harness/cpu-time.ts'

const read = (text: string): readonly string[] => documentsIn(text, 'x.yaml').map(jsonOf)

t.test('YAML as kubectl reads it, with every digit and in its order', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['a: 12345678901234567890', '{"a":12345678901234567890}'],
    ['"10": 1\nb: 2\n"9": 3', '{"10":1,"b":2,"9":3}'],
    ['a: yes\nb: "yes"\nc: ~', '{"a":true,"b":"yes","c":null}'],
    ['a: 0777\nb: 0x10\nc: 1e3\nd: .5', '{"a":511,"b":16,"c":1e3,"d":0.5}'],
    ['a: 2026-01-02', '{"a":"2026-01-02"}'],
    ['a: |\n  x\n  y\n', '{"a":"x\\ny\\n"}'],
    ['a: &x {b: 1}\nc: *x', '{"a":{"b":1},"c":{"b":1}}'],
    ['x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3', '{"x":{"a":1,"b":2},"y":{"a":1,"b":3}}'],
    ['x: &x {a: 1}\nz: &z {c: 1}\ny: {<<: [*x, *z]}', '{"x":{"a":1},"z":{"c":1},"y":{"a":1,"c":1}}'],
    ['a: .inf', '{"a":".inf"}'],
    ['- a\n- [1, {}]', '["a",[1,{}]]'],
    ['{"a": [true, null, "x"]}', '{"a":[true,null,"x"]}'],
  ]
  for (const [yaml, json] of cases) t.same(read(yaml), [json], yaml)
})

t.test('documents, and no document', async (t) => {
  t.same(read('a: 1\n---\nb: 2\n'), ['{"a":1}', '{"b":2}'])
  t.same(read(''), [])
  t.same(read('# nothing\n---\n---\na: 1\n').at(-1), '{"a":1}')
})

t.test('what is no YAML, or too deep', async (t) => {
  t.throws(() => read('a: [1'), { name: 'UsageError', message: /^x\.yaml is not YAML: .*line 1/ })
  t.throws(() => read(`${'['.repeat(150)}${']'.repeat(150)}`), { name: 'UsageError', message: /deeper/ })
})

t.test('equal keys are a mistake, and are found soon among many', async (t) => {
  const equal = [
    ['a: 1\nb:\n  c: 1\n  "c": 2', 'line 4, column 3'],
    ['{"a": 1, "b": 2, "a": 3}', 'line 1, column 18'],
    ['1: a\n"1": b', 'line 2, column 1'],
  ]
  for (const [yaml = '', place = ''] of equal)
    t.throws(() => read(yaml), {
      name: 'UsageError',
      message: `x.yaml is not YAML: a key is there a second time at ${place}.`,
    })
  const many = Array.from({ length: 50_000 }, (_, i) => `key${i}: 1`).join('\n')
  const began = cpuTime()
  t.equal(read(many).length, 1)
  t.throws(() => read(`${many}\nkey7: 2`), { message: /line 50001, column 1/ })
  t.ok(cpuTime() - began < 10_000)
})

t.test('aliases that repeat what others repeat end soon', async (t) => {
  const lines = Array.from({ length: 20 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i},`.repeat(9)}]`)
  const mappings = Array.from({ length: 20 }, (_, i) => `x${i + 1}: &x${i + 1} {<<: [*x${i}, *x${i}], a: 1}`)
  const long = `x0: &x0 ${'x'.repeat(100_000)}\ny: [${'*x0,'.repeat(1_000)}]`
  const began = cpuTime()
  for (const bomb of [`x0: &x0 [a]\n${lines.join('\n')}`, `x0: &x0 {a: 1}\n${mappings.join('\n')}`, long])
    t.throws(() => read(bomb), { name: 'UsageError', message: /aliases .* repeat more than 16 MiB/ })
  t.ok(cpuTime() - began < 5_000)
  t.equal(read(`x: &x {a: 1}\ny: [${'*x,'.repeat(10_000)}]`)[0]?.length, 80_019)
})
