/** A text as it may be meant. */
export interface Reading {
  readonly text: string
  /** Where each of its code units begins in the text that was read. */
  readonly from: Int32Array
  /** Where each ends there. */
  readonly to: Int32Array
}

/** Characters at the end of a reading that may be read differently if the text goes on: an escape in an escape, cut. */
export const UNSURE_END = 24

/**
 * A text with its blanks replaced: as it is, and with what is encoded in it decoded once and twice, where that changes it.
 * Decoded are percent-encoding, the references of HTML to characters (by number, and by name to the signs of ASCII), and
 * escapes of JSON and JavaScript. Takes time in proportion to the length.
 */
export function readingsOf(text: string, blank: '' | ' '): readonly Reading[] {
  const whole = { text, from: new Int32Array(text.length), to: new Int32Array(text.length) }
  for (let at = 0; at < text.length; at += 1) whole.to[at] = (whole.from[at] = at) + 1
  const first = replaced(whole, BLANKS, () => blank)
  const readings = [first]
  for (let last = first; readings.length < 3; readings.push(last)) {
    const next = replaced(replaced(last, ENCODED, meantBy), BLANKS, () => blank)
    if (next.text === last.text) break
    last = next
  }
  return readings
}

/** The text with what is encoded in it decoded once. */
export function decoded(text: string): string {
  return text.replace(ENCODED, meantBy)
}

/** The text with what is not seen between two characters replaced, as a reading has it. */
export function withBlanks(text: string, blank: '' | ' '): string {
  // Asked first, which takes a tenth of the time where there is none.
  return PLAIN.test(text) ? text : text.replace(BLANKS, blank)
}

const PLAIN = /^[!-~]*$/
// A selector of variants (U+FE0F) is ignorable, and in none of the others.
const BLANKS = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+/gu
const ENCODED = new RegExp(
  [
    // One character in UTF-8.
    '%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}',
    String.raw`\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|["'/\\])`,
    '&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,6});',
  ].join('|'),
  'gi',
)

function meantBy(token: string): string {
  if (token.startsWith('%')) return Buffer.from(token.replaceAll('%', ''), 'hex').toString()
  if (token.startsWith('&')) return referred(token.slice(1, -1).toLowerCase()) ?? token
  return token.length === 2 ? token.slice(1) : String.fromCharCode(Number.parseInt(token.slice(2), 16))
}

/** The character that a reference of HTML stands for (https://html.spec.whatwg.org/multipage/named-characters.html). */
function referred(name: string): string | undefined {
  if (!name.startsWith('#')) return SIGNS.get(name)
  const number = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return number > 0x10ffff ? undefined : String.fromCodePoint(number)
}

const SIGNS: ReadonlyMap<string, string> = new Map(
  `nbsp:\u00a0 excl:! quot:" num:# dollar:$ percnt:% amp:& apos:' lpar:( rpar:) ast:* plus:+ comma:, period:. sol:/ colon::
semi:; lt:< equals:= gt:> quest:? commat:@ lsqb:[ lbrack:[ bsol:\\ rsqb:] rbrack:] hat:^ lowbar:_ grave:\` lcub:{ lbrace:{
verbar:| vert:| rcub:} rbrace:}`
    .split(/[ \n]/)
    .map((row) => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 1)]),
)

/** The reading with every match replaced by something no longer. What replaces one begins and ends where that did. */
function replaced(reading: Reading, pattern: RegExp, meant: (token: string) => string): Reading {
  const from = new Int32Array(reading.text.length)
  const to = new Int32Array(reading.text.length)
  let done = 0
  let length = 0
  function place(first: number, last: number): void {
    from[length] = reading.from[first] ?? 0
    to[length++] = reading.to[last] ?? 0
  }
  function placeUpTo(end: number): void {
    for (; done < end; done += 1) place(done, done)
  }
  const text = reading.text.replace(pattern, (token: string, at: number) => {
    placeUpTo(at)
    done += token.length
    const shown = meant(token)
    for (let unit = 0; unit < shown.length; unit += 1) place(at, done - 1)
    return shown
  })
  if (text === reading.text) return reading
  placeUpTo(reading.text.length)
  return { text, from, to }
}
