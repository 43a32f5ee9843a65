import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, type KeyFiles } from '../harness/ssh-keys.ts'
import { API_PATH, basic } from './gitea-api.ts'
import type { GiteaUser } from './gitea.ts'

/**
 * Adds the key to the account and verifies it, as its page "SSH / GPG Keys" says: the signature of a token is pasted into a
 * form. The API has no way to do it. Source: Gitea's documentation, "GPG/SSH Commit Signatures".
 */
export async function addVerifiedKey(httpOrigin: string, user: GiteaUser, key: KeyFiles): Promise<void> {
  await user.ask('POST', '/user/keys', { title: fingerprintOf(key), key: key.publicKey })
  const signature = signedText(await verificationToken(httpOrigin, user), key)
  const form = {
    type: 'verify_ssh',
    title: 'none',
    content: 'none',
    fingerprint: fingerprintOf(key),
    signature,
  }
  await submit(`${httpOrigin}/user/settings/keys`, form, await sessionOf(httpOrigin, user))
}

async function verificationToken(httpOrigin: string, { name, password }: GiteaUser): Promise<string> {
  const headers = { authorization: basic(name, password) }
  const answer = await fetch(`${httpOrigin}${API_PATH}/user/gpg_key_token`, { headers })
  if (answer.status !== 200) throw new Error(`Gitea gives no token to sign: ${answer.status}`)
  return answer.text()
}

/** Logs in by the page; returns the cookies. */
async function sessionOf(httpOrigin: string, { name, password }: GiteaUser): Promise<string> {
  const { headers } = await submit(`${httpOrigin}/user/login`, { user_name: name, password })
  // The session has another name after the log-in: the last cookie of a name counts.
  const cookies = headers.getSetCookie().map((cookie) => cookie.replace(/;.*/s, '').split('='))
  return [...new Map(cookies.map(([key = '', ...value]) => [key, value.join('=')]))]
    .map((pair) => pair.join('='))
    .join('; ')
}

/** Submits a form whose success is a redirect to any page but the one to log in. */
async function submit(
  url: string,
  form: Readonly<Record<string, string>>,
  cookie?: string,
): Promise<Response> {
  const headers = cookie === undefined ? {} : { cookie }
  const body = new URLSearchParams(form)
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
  const said = await answer.text()
  const location = answer.headers.get('location') ?? '/user/login'
  if (location.includes('/user/login'))
    throw new Error(`${url} ended with ${answer.status}: ${said.slice(0, 500)}`)
  return answer
}

function signedText(text: string, key: KeyFiles): string {
  return inFolder((folder) => {
    const file = join(folder, 'key')
    writeFileSync(file, key.privateKey, { mode: 0o600 })
    return execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'gitea', '-f', file], {
      input: text,
      encoding: 'utf8',
    })
  })
}

function fingerprintOf({ publicKey }: KeyFiles): string {
  const [, blob = ''] = publicKey.split(' ')
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}
