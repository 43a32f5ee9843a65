import t from 'tap'
import { fieldPathComplaint, parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import type { FieldStep } from '../../../functions/domain/field-path/field-path.ts'

const key = (name: string): FieldStep => ({ kind: 'key', key: name })
const index = (at: number): FieldStep => ({ kind: 'index', index: at })
const match = (keys: readonly string[], value: string | number): FieldStep => ({
  kind: 'match',
  keys,
  value: typeof value === 'string' ? value : { digits: String(value) },
})

const TAKEN: readonly (readonly [string, readonly FieldStep[]])[] = [
  ['.data["values.yaml"]', [key('data'), key('values.yaml')]],
  [`.data['values.yaml']`, [key('data'), key('values.yaml')]],
  ['.data."values.yaml"', [key('data'), key('values.yaml')]],
  ['.data.["values.yaml"]', [key('data'), key('values.yaml')]],
  ['["data"].x', [key('data'), key('x')]],
  ['spec.replicas', [key('spec'), key('replicas')]],
  ['$.spec.replicas', [key('spec'), key('replicas')]],
  ['{.spec.replicas}', [key('spec'), key('replicas')]],
  ['{$.spec}', [key('spec')]],
  ['{spec}', [key('spec')]],
  [
    '.metadata.labels.app\\.kubernetes\\.io/name',
    [key('metadata'), key('labels'), key('app.kubernetes.io/name')],
  ],
  ['.a-b._c.0', [key('a-b'), key('_c'), key('0')]],
  ['.spec.containers[0].image', [key('spec'), key('containers'), index(0), key('image')]],
  ['[0][12]', [index(0), index(12)]],
  ['.c[?(@.name=="app")].image', [key('c'), match(['name'], 'app'), key('image')]],
  [`.c[?( @.name == 'a"b' )]`, [key('c'), match(['name'], 'a"b')]],
  ['.c[?(@["x.y"].z==8080)]', [key('c'), match(['x.y', 'z'], 8080)]],
  ['["\\u00e9\\n\\"]"]', [key('é\n"]')]],
  [`['it\\'s \\\\']`, [key(`it's \\`)]],
  ['.__proto__', [key('__proto__')]],
  ['["a,b:c*"]', [key('a,b:c*')]],
]

for (const [text, steps] of TAKEN) {
  t.test(`${text} is read`, async (t) => {
    t.strictSame(parseFieldPath(text), { text, steps })
    t.equal(fieldPathComplaint(text), undefined)
  })
}

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['', /names no field/],
  ['.', /ends too early at character 2/],
  ['$', /names no field/],
  ['{}', /names no field/],
  ['..image', /recursive descent at character 1/],
  ['.a..b', /recursive descent at character 3/],
  ['.a.*', /a wildcard at character 3/],
  ['.a[*]', /a wildcard at character 3/],
  ['.a[]', /an iteration/],
  ['.a[-1]', /a negative index/],
  ['.a[0:2]', /a slice/],
  ['.a[0,1]', /a union/],
  ['.a["b","c"]', /neither a quoted name nor a number/],
  ['.a | length', /a pipe at character 3/],
  ['.a?', /an optional step/],
  ['.length()', /a function/],
  ['.a[?(@.b>1)]', /a filter other than/],
  ['.a[?(@.b)]', /a filter other than/],
  ['.a[?(@.b=="c" && @.d=="e")]', /a filter other than/],
  ['.a[?(@==1)]', /a filter other than/],
  ['.a[?(@.b==true)]', /a filter other than/],
  ['.a[01]', /neither/],
  ['.a[9999999999]', /neither/],
  ['.a["b]', /neither/],
  ['.a["\\x41"]', /neither/],
  ['.a["\\ud800"]', /neither/],
  ['.a."b', /not closed/],
  ['.a.', /ends too early/],
  ['.a b', /has " " at character 3/],
  ['.a{b}', /has "\{" at character 3/],
  ['{.a', /has "\{" at character 1/],
  ['.a]', /has "\]"/],
  ['.é', /has "é"/],
  ['.a\ud800', /half a character/],
  [`.${'a'.repeat(1_024)}`, /1,025 characters/],
  ['.a'.repeat(33), /more than 32 steps/],
]

for (const [text, said] of REFUSED) {
  t.test(`${JSON.stringify(text.slice(0, 30))} is refused: ${said.source}`, async (t) => {
    t.match(fieldPathComplaint(text) ?? '', said)
    t.throws(() => parseFieldPath(text), { reason: 'InvalidSpec', message: said })
  })
}

t.test('the limits themselves are allowed', async (t) => {
  t.equal(parseFieldPath('.a'.repeat(32)).steps.length, 32)
  t.equal(parseFieldPath(`.${'a'.repeat(1_023)}`).steps.length, 1)
})
