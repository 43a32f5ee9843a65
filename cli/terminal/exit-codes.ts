/** What each exit code of `commitlet` means; help, man page and docs/cli.md show this table. */
export const EXIT_CODES = {
  good: { code: 0, meaning: 'everything that was looked at is good' },
  wrong: { code: 1, meaning: 'something is wrong; what to do is said' },
  usage: { code: 2, meaning: 'the command line, a file or a setting cannot be understood' },
  unknown: { code: 3, meaning: 'it could not be found out: the network, the API server or your rights' },
} as const

/** How a command ended. */
export type Outcome = keyof typeof EXIT_CODES

/** The worst of several: wrong, then unknown. */
export function worst(outcomes: readonly Outcome[]): Outcome {
  return (['usage', 'wrong', 'unknown'] as const).find((one) => outcomes.includes(one)) ?? 'good'
}

/** The command line, or a file that it names, cannot be understood; one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
