import { fill } from '../e2e/matrix-fill.ts'
import type { MatrixCase } from '../e2e/matrix-endings.ts'

const ADDRESSES = {
  https: 'https://git.example.com/acme/config.git',
  ssh: 'ssh://git@git.example.com/acme/config.git',
} as const
const WORDS: Readonly<Record<string, string>> = {
  SECRET: 'shop/git-credentials',
  FALLBACK: 'shop/git-credentials-fallback',
  SHA: '0123456789ab',
  PATH: 'shop/settings.yaml',
  USER: 'git',
  HOST: 'git.example.com',
  HOSTNAME: 'git.example.com',
  PORT: '22',
  KEY: 'SHA256:…',
  HOSTKEY: 'SHA256:…',
  YESTERDAY: 'SHA256:…',
}

interface Row {
  readonly head: string
  readonly state: string
  readonly end: string
}

/** The table of docs/log-in-messages.md: one row for the states that end alike. */
export function matrixTable(cases: readonly MatrixCase[]): string {
  const rows = cases.map(rowOf)
  const first = rows.filter((row, index) => rows.findIndex((other) => isSame(row, other)) === index)
  const lines = first.map((row) => {
    const states = rows.filter((other) => isSame(row, other)).map(({ state }) => state)
    return `| ${row.head} | ${states.join('; ')} | ${row.end} |`
  })
  return ['| credentials | address | state | reason | message |', '|---|---|---|---|---|', ...lines].join(
    '\n',
  )
}

function rowOf({ credentials, address, state, reason, used, says }: MatrixCase): Row {
  const shown = reason === 'refused' ? 'refused by kubectl apply' : reason
  const served = used === undefined ? shown : `${shown} (${used})`
  return {
    head: `${credentials} | ${address}`,
    state,
    end: `${served} | ${fill(says, { ...WORDS, URL: ADDRESSES[address] })}`,
  }
}

function isSame(one: Row, other: Row): boolean {
  return one.head === other.head && one.end === other.end
}
