/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Levels of pino, the default first. */
export const LOG_LEVELS = ['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'] as const

/** Thrown only at the start: one sentence with the variable, its value and the values that are allowed. */
export class WrongSetting extends Error {}

/** The result of `work`, or undefined if it throws, such as for a file that cannot be read. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The variable's text, or the default where it is unset or empty. */
export function text<D extends string | undefined>(env: Environment, name: string, absent: D): string | D {
  const value = env[name]
  return value === undefined || value === '' ? absent : value
}

/** A whole number between `least` and `most`. */
export function wholeNumber(
  env: Environment,
  name: string,
  bounds: { readonly absent: number; readonly least: number; readonly most: number },
): number {
  const value = text(env, name, undefined)
  if (value === undefined) return bounds.absent
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (number >= bounds.least && number <= bounds.most) return number
  throw new WrongSetting(
    `${name} is "${value}", but has to be a whole number from ${bounds.least} to ${bounds.most}.`,
  )
}

/** METRICS_PORT: the port of the metrics, 0 for any that is free; undefined: there are none. */
export function metricsPortOf(env: Environment): number | undefined {
  const port = wholeNumber(env, 'METRICS_PORT', { absent: -1, least: 0, most: 65_535 })
  return port === -1 ? undefined : port
}

/** One of the listed words. */
export function choice<W extends string>(env: Environment, name: string, words: readonly [W, ...W[]]): W {
  const value = text(env, name, words[0])
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  throw new WrongSetting(`${name} is "${value}", but has to be one of ${words.join(', ')}.`)
}

/** The items of a comma-separated list, trimmed; none if it is unset or empty. */
export function list(env: Environment, name: string, absent = ''): readonly string[] {
  return text(env, name, absent)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Why a program cannot start: the message of the error, or one of ours for a port that is in use (EADDRINUSE). */
export function startComplaint(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isPortInUse = 'code' in error && error.code === 'EADDRINUSE' && 'port' in error
  if (!isPortInUse) return error.message
  return `PORT is ${String(error.port)}, but another program listens there; choose another port.`
}
