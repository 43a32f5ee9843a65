import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { member } from '../../../functions/domain/json-value.ts'
import { answerToApp, memoryApps } from './github-app.ts'
import { GITHUB_OPERATIONS } from './operations/github.ts'
import { memoryModel } from './model.ts'
import { requestCheck } from './request-check.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const NOW = 1_800_000_000

function stage() {
  const apps = { ...memoryApps(), now: () => NOW }
  apps.keys.set('4711', publicKey)
  const permissions = { contents: 'write', pull_requests: 'read' } as const
  const installation = { id: 81, appID: '4711', account: 'acme', repositories: ['shop'], suspended: false }
  apps.installations.push({ ...installation, permissions: { ...permissions } })
  const model = { ...memoryModel(), apps }
  const check = requestCheck(GITHUB_OPERATIONS)
  const ask = (method: string, path: string, jwt: string, body?: unknown) => {
    const headers = new Headers({ authorization: `Bearer ${jwt}` })
    const answer = answerToApp({ method, path, body }, headers, model)
    if (answer === undefined) return undefined
    const contentType = body === undefined ? undefined : 'application/json'
    const request = { method, path, body, contentType, query: new URLSearchParams() }
    // 401 is documented for all requests together.
    if (answer.status !== 401)
      t.strictSame(check.answerComplaints(request, answer.status, answer.body), [], `${method} ${path}`)
    return [answer.status, member(answer.body, 'message')]
  }
  return { apps, model, ask }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const CLAIMS = { iat: NOW - 60, exp: NOW + 540, iss: '4711' }

function jwtOf(claims: object = {}, alg = 'RS256', key = privateKey): string {
  const text = `${part({ alg, typ: 'JWT' })}.${part({ ...CLAIMS, ...claims })}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

const LOOK = ['GET', '/repos/acme/shop/installation'] as const

t.test('a JSON Web Token is accepted as GitHub documents it, and no other', async (t) => {
  const { ask } = stage()
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const text = `${part({ alg: 'HS256' })}.${part(CLAIMS)}`
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  const confused = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`
  const rows: [string, string, number, RegExp | undefined][] = [
    ['as documented', jwtOf(), 200, undefined],
    ['of ten minutes', jwtOf({ iat: NOW, exp: NOW + 600 }), 200, undefined],
    ['of another key', jwtOf({}, 'RS256', other), 401, /could not be decoded/],
    ['of another algorithm', jwtOf({}, 'RS512'), 401, /could not be decoded/],
    ['without a signature', `${part({ alg: 'none' })}.${part(CLAIMS)}.`, 401, /could not be decoded/],
    ['signed with the public key', confused, 401, /could not be decoded/],
    ['that is none', 'ghp_token', 401, /could not be decoded/],
    ['of nobody', jwtOf({ iss: '1' }), 404, /^Integration not found/],
    ['from the future', jwtOf({ iat: NOW + 5 }), 401, /'iat'/],
    ['that has ended', jwtOf({ exp: NOW }), 401, /\('exp'\) must be/],
    ['of eleven minutes', jwtOf({ exp: NOW + 660 }), 401, /too far in the future/],
    ['whose times are texts', jwtOf({ exp: '2100' }), 401, /'exp'/],
  ]
  for (const [title, jwt, status, message] of rows) t.match(ask(...LOOK, jwt), [status, message], title)
})

t.test('a token is issued for what is installed, granted and asked for', async (t) => {
  const { ask, apps, model } = stage()
  const issue = (body: object, id = 81) =>
    ask('POST', `/app/installations/${id}/access_tokens`, jwtOf(), body)
  t.match(issue({ repositories: ['shop'], permissions: { contents: 'write' } }), [201])
  t.match(issue({ repositories: ['other'] }), [422, /at least one repository/])
  t.match(issue({ permissions: { pull_requests: 'write' } }), [422, /not granted/])
  t.match(issue({}, 82), [404])
  t.match(issue({}), [201], 'all that was granted')
  t.match(apps.issued, [{ permissions: { contents: 'write' } }, { permissions: { pull_requests: 'read' } }])
  t.equal(model.tokens.size, 3)
  t.match(ask('GET', '/app/installations/81', jwtOf()), [200])
  for (const installation of apps.installations) installation.suspended = true
  t.match(issue({}), [403, /suspended/])
  apps.installations.length = 0
  t.match(ask(...LOOK, jwtOf()), [404])
  t.equal(ask('GET', '/user', jwtOf()), undefined)
})
