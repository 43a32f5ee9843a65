import { decodeCommit } from '../../functions/git/objects/commit-object.ts'
import { readFetched } from '../../functions/git/protocol/fetch.ts'
import { readListedRefs } from '../../functions/git/protocol/ls-refs.ts'
import { FLUSH, packet } from '../../functions/git/protocol/pkt-line.ts'
import { readAdvertisedRef } from '../../functions/git/protocol/receive-pack.ts'
import { shortReport } from '../../functions/git/protocol/short-report.ts'
import type { Shape } from '../harness/growth.ts'
import type { ParserRow } from './row.ts'

const MEBI = 1024 * 1024
const ID = '1'.repeat(40)
/** Characters of the longest packet. */
const LONGEST = 65_516

/** An answer of this size after a first packet, of packets that repeat a piece after their beginning. */
function answerOf(size: number, [start, piece, length = LONGEST]: Lines, first: Buffer): Buffer {
  const repeated = piece.repeat(length)
  const line = packet(`${start}${repeated}`.slice(0, length))
  return Buffer.concat([first, ...Array<Buffer>(Math.floor(size / line.length)).fill(line), FLUSH])
}

/** How packets begin, what they repeat, and their length. */
type Lines = readonly [start: string, piece: string, length?: number]

function shapesOf(
  lines: Readonly<Record<string, Lines>>,
  read: (answer: Buffer) => unknown,
  first: Buffer = Buffer.alloc(0),
): Readonly<Record<string, Shape>> {
  const shapeOf = (of: Lines): Shape => {
    return (size) => {
      const answer = answerOf(size, of, first)
      return () => orRefused(() => read(answer))
    }
  }
  return Object.fromEntries(Object.entries(lines).map(([name, of]) => [name, shapeOf(of)]))
}

/** What is refused is for the git binary. */
function orRefused(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return error
  }
}

/** A commit of this size that repeats a piece after the line of its tree. */
function commitOf(piece: string): Shape {
  return (size) => {
    const body = Buffer.alloc(size, piece)
    body.write(`tree ${ID}\n`)
    return () => orRefused(() => decodeCommit(body))
  }
}

/** What servers send in Git's protocol. */
export const PROTOCOL_ROWS: readonly ParserRow[] = [
  {
    parser: 'list of refs',
    largest: 4 * MEBI,
    unit: 'bytes',
    shapes: shapesOf(
      {
        attributes: [`${ID} refs/heads/main`, ' '],
        targets: [`${ID} HEAD`, ' symref-target:a'],
        names: [`${ID} refs/heads/`, 'a'],
        refs: [`${ID} refs/heads/`, 'a', 64],
      },
      (answer) => readListedRefs(answer, ['HEAD', 'refs/heads/main']),
    ),
  },
  {
    parser: 'list of refs before a push',
    largest: 4 * MEBI,
    unit: 'bytes',
    shapes: shapesOf(
      {
        capabilities: [`${ID} refs/heads/main`, '\0'],
        blanks: [`${ID} refs/heads/main\0`, ' '],
        refs: [`${ID} refs/heads/`, 'a', 64],
      },
      (answer) => readAdvertisedRef(answer, 'refs/heads/other'),
    ),
  },
  {
    parser: 'piece of an answer to a push',
    largest: 64 * 1024,
    unit: 'bytes',
    shapes: shapesOf(
      { words: ['\x02', 'a'], letters: ['\x02', 'a', 2], nothing: ['\x02', '', 1], report: ['\x01', 'a', 2] },
      (answer) => shortReport()(answer),
    ),
  },
  {
    parser: 'answer to a fetch, up to its pack',
    largest: 16 * MEBI,
    unit: 'bytes',
    shapes: shapesOf(
      {
        blanks: [`shallow ${ID}`, ' '],
        others: [`unshallow ${ID}`, ' '],
        commits: [`shallow ${ID}`, '', 48],
      },
      readFetched,
      packet('shallow-info\n'),
    ),
  },
  {
    parser: 'commit',
    largest: 32 * MEBI,
    unit: 'bytes',
    shapes: {
      parents: commitOf(`parent ${ID}\n`),
      lines: commitOf('x\n'),
      'ends of lines': commitOf('\n'),
      'one line': commitOf('x'),
    },
  },
]
