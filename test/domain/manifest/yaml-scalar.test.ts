import t from 'tap'
import { flowScalar, literalHeader, numberScalar } from '../../../functions/domain/manifest/yaml-scalar.ts'
import { AMBIGUOUS, CONTROLS, LINES, shown, SYNTAX } from '../fixtures/traps.ts'

t.test('ordinary strings are unquoted', (t) => {
  const cases = [
    ...[
      'nginx:1.25',
      '/usr/bin/x',
      '--flag=x',
      '-f',
      '10.0.0.1',
      '1.2.3',
      '100m',
      '2Gi',
      '5d',
      'a b',
      'a@b',
      'x#y',
    ],
    ...[
      'https://git.example.com:8443/acme?x=1#y',
      'é',
      '😀',
      "it's",
      'say "x"',
      'a, b',
      'a: b'.replace(' ', ''),
      '$(X)',
    ],
    ...[
      'deadbeef',
      '0.1.0-rc1',
      'v1',
      'apps/v1',
      'nope',
      'yes!',
      'a]b',
      'x}',
      '1/2',
      '50%',
      '_1',
      '1-2',
      '20-1-1',
      'e',
    ],
  ]
  for (const text of cases) t.equal(flowScalar(text), text, shown(text))
  t.end()
})

t.test('what a reader would take for another type is in double quotes', (t) => {
  for (const text of AMBIGUOUS) t.equal(flowScalar(text), `"${text}"`, shown(text))
  t.end()
})

t.test('what only the syntax does not allow unquoted is in single quotes', (t) => {
  for (const text of SYNTAX) t.equal(flowScalar(text), `'${text.replaceAll("'", "''")}'`, shown(text))
  t.end()
})

t.test('a string with a control character or a line break is escaped, on one line', (t) => {
  for (const text of [...CONTROLS, ...LINES]) {
    const scalar = flowScalar(text)
    t.match(scalar, /^"[^\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]*"$/u, shown(text))
    t.equal(JSON.parse(scalar), text, `${shown(text)} comes back`)
  }
  t.equal(flowScalar('\u0085\u2028\ufeff\u007f\t'), '"\\u0085\\u2028\\ufeff\\u007f\\t"')
  t.end()
})

t.test('a long string stays on its line', (t) => {
  const long = 'word '.repeat(5_000)
  t.equal(flowScalar(`${long}x`), `${long}x`)
  t.equal(flowScalar(long), `'${long}'`)
  t.end()
})

t.test('a literal has the chomping and the indentation that its lines need', (t) => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['a\nb', '|-'],
    ['a\n', '|'],
    ['a\n\n', '|+'],
    ['\na\n', '|'],
    [' a\n', '|2'],
    ['\n\n a\nb', '|2-'],
    ['\ta\n\n', '|2+'],
    ['a\n b\n\tc\n', '|'],
    ['a \n \nb', '|-'],
    ['é\n😀', '|-'],
    ['a', undefined],
    ['', undefined],
    ['\n', undefined],
    ['\n\n', undefined],
    [' \n', undefined],
    ['a\n ', undefined],
    ['a\n\t\n\n', undefined],
  ]
  for (const [text, header] of cases) t.equal(literalHeader(text), header, shown(text))
  t.end()
})

t.test('no string with a control character is a literal', (t) => {
  for (const text of CONTROLS) t.equal(literalHeader(`a\n${text}x\n`), undefined, shown(text))
  t.end()
})

t.test('integers keep their digits and floats read as floats in YAML 1.1', (t) => {
  const cases = [
    ['0', '0'],
    ['-12', '-12'],
    ['9223372036854775807', '9223372036854775807'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['1.50', '1.50'],
    ['1e3', '1.0e+3'],
    ['1E3', '1.0e+3'],
    ['1e+21', '1.0e+21'],
    ['-1.5e-7', '-1.5e-7'],
    ['2.5E10', '2.5e+10'],
  ]
  for (const [digits = '', text] of cases) t.equal(numberScalar({ digits }), text, digits)
  t.end()
})

t.test('a long text is read once: what is almost a number does not take longer', async (t) => {
  const length = 1_000_000
  for (const unit of ['1', '1_', '1,', '1.', '.', '1:', '1e', '-1', '0x', '+', '2026-01-', '1:1.']) {
    const text = `${unit.repeat(length / unit.length)}x`
    t.equal(flowScalar(text).length >= text.length, true, unit)
  }
})
