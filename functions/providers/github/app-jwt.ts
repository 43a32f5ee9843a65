import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { App } from '../../domain/credentials/app.ts'

/** So long before the time of its signature a token counts from: the clock of GitHub may be behind. */
const BACKWARDS_S = 60
/** GitHub accepts at most ten minutes. */
const LIFETIME_S = 600

const signed = promisify(sign)

/**
 * The JSON Web Token by which an App logs in as itself (RFC 7519; RS256 of RFC 7518). It is valid from a minute before
 * `now`, for ten minutes. Source: GitHub documentation, "Generating a JSON Web Token (JWT) for a GitHub App".
 */
export async function appJWT({ id, key }: Pick<App, 'id' | 'key'>, now: Date): Promise<string> {
  const iat = Math.floor(now.getTime() / 1_000) - BACKWARDS_S
  const parts = [
    { alg: 'RS256', typ: 'JWT' },
    { iat, exp: iat + LIFETIME_S, iss: id },
  ]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = await signed('RSA-SHA256', Buffer.from(text), key)
  return `${text}.${signature.toString('base64url')}`
}
