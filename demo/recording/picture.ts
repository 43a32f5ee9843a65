import { tokensOf, type Token } from './terminal.ts'

/** A line of the output, and when it appeared, in milliseconds from the start. */
export interface RecordedLine {
  readonly text: string
  readonly atMs: number
}

const SIZE = { font: 14, line: 20, character: 8.43, margin: 20, bar: 34 } as const
const COLOURS = { 31: '#ff7b72', 32: '#3fb950', 33: '#d29922', 36: '#76c7e8' } as const
const NORMAL = '#d6dde6'
/** Nobody waits for an empty terminal. */
const LONGEST_PAUSE_MS = 1_500
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * The lines as an SVG that shows each when it appeared, pauses shortened, and keeps all of them. What knows no animations,
 * or does not want any, shows them at once.
 */
export function pictureOf(lines: readonly RecordedLine[], title: string): string {
  const columns = Math.max(...lines.map(({ text }) => plain(text).length))
  const width = Math.ceil(columns * SIZE.character + 2 * SIZE.margin)
  const height = SIZE.bar + lines.length * SIZE.line + SIZE.margin
  let [shown, last] = [0, 0]
  const rows = lines.map(({ text, atMs }, index) => {
    shown += Math.min(LONGEST_PAUSE_MS, atMs - last)
    last = atMs
    const y = SIZE.bar + (index + 1) * SIZE.line
    const spans = tokensOf(text).map(spanOf).join('')
    return `<text x="${SIZE.margin}" y="${y}" style="animation-delay:${(shown / 1000).toFixed(2)}s">${spans}</text>`
  })
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${SIZE.margin + index * 20}" cy="18" r="6" fill="${fill}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>
text { font: ${SIZE.font}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: ${NORMAL}; white-space: pre; animation: appear 0.1s linear backwards }
@keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0f1620"/>
${dots.join('')}
${rows.join('\n')}
</svg>
`
}

function spanOf({ text, codes }: Token): string {
  const code = codes.find((one) => one in COLOURS)
  const colour = Object.entries(COLOURS).find(([key]) => Number(key) === code)?.[1]
  const attributes = [
    colour === undefined ? '' : ` fill="${colour}"`,
    codes.includes(1) ? ' font-weight="bold"' : '',
    codes.includes(2) ? ' fill-opacity="0.6"' : '',
  ].join('')
  return attributes === '' ? escaped(text) : `<tspan${attributes}>${escaped(text)}</tspan>`
}

function plain(text: string): string {
  return tokensOf(text)
    .map((token) => token.text)
    .join('')
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => HTML[character] ?? '')
}
