import t from 'tap'
import { holdsSecret, redact } from '../../functions/domain/redact.ts'
import { anyCharacter } from '../harness/any-character.ts'
import fc from '../harness/fast-check.ts'

const SECRET = 'tok/en+4711=&"x'
const [HTML, JSON_TEXT] = ['tok&#x2F;en&plus;4711&equals;&amp;&quot;x', 'tok\\/en\\u002B4711=\\u0026\\"x']

for (const [name, text] of [
  ['entities of HTML', HTML],
  ['decimal entities', 'tok&#47;en&#43;4711&#061;&#38;&#34;x'],
  ['escapes of JSON', JSON_TEXT],
  ['escapes of JavaScript', 'tok\\x2fen\\x2B4711\\x3d\\x26\\"x'],
  ['percent-encoding of some characters, in both cases', 't%6fk%2Fen%2b4711%3D%26%22x'],
  [
    'percent-encoding of every character',
    SECRET.replace(/./g, (sign) => `%${Buffer.from(sign).toString('hex')}`),
  ],
  ['HTML in JSON', HTML.replaceAll('&', '\\u0026')],
  ['percent-encoding twice', encodeURIComponent(encodeURIComponent(SECRET))],
  ['several at once', 'tok%2Fen&#43;4711\\u003d&amp;&#x22;x'],
  ['blanks between the characters of entities', Array.from(HTML).join(' ')],
  ['base64 in a form', encodeURIComponent(Buffer.from(SECRET).toString('base64'))],
] as const) {
  t.test(`a secret is masked: ${name}`, async (t) => {
    t.equal(redact(`you sent "${text}" twice: ${text}.`, [SECRET]), 'you sent "***" twice: ***.')
    t.equal(holdsSecret(`https://git.example.com/?t=${text}`, [SECRET]), !text.includes(' '))
  })
}

t.test('what is encoded and no secret stays as it is', async (t) => {
  const text = 'a &amp; b, 100%25 of \\u00e4, C:\\\\x, &nothing; &#x110000; %zz \\q'
  t.equal(redact(text, [SECRET]), text)
})

const encoders: readonly ((sign: string) => string)[] = [
  (sign) => Buffer.from(sign).toString('hex').replace(/../g, '%$&'),
  (sign) => Buffer.from(sign).toString('hex').toUpperCase().replace(/../g, '%$&'),
  (sign) => `&#${sign.codePointAt(0)};`,
  (sign) => `&#x${sign.codePointAt(0)?.toString(16)};`,
  (sign) => `&#X${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(6, '0')};`,
  (sign) =>
    Array.from(
      { length: sign.length },
      (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
]

t.test('however each character of a secret is encoded, nothing of it is shown', async (t) => {
  const sign = anyCharacter.filter((one) => /^[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]$/u.test(one))
  const encoded = fc.tuple(sign, fc.nat({ max: encoders.length * 2 }))
  fc.assert(
    fc.property(fc.array(encoded, { minLength: 8, maxLength: 40 }), (signs) => {
      const secret = signs.map(([one]) => one).join('')
      const text = signs
        .map(([one, way]) =>
          (encoders[/[%&\\]/.test(one) ? way % encoders.length : way] ?? ((as: string) => as))(one),
        )
        .join('')
      return redact(`(${text})`, [secret]) === '(***)' && holdsSecret(`https://h/${text}`, [secret])
    }),
  )
  t.pass()
})
