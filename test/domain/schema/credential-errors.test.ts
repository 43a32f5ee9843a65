import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import {
  credentialErrors,
  metadataCredentialErrors,
} from '../../../functions/domain/schema/credential-errors.ts'
import { GITCOMMIT_SPEC } from '../../../functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../../../functions/domain/crd/pull-request.ts'
import type { Schema } from '../../../functions/domain/crd/schema.ts'
import { sample } from '../../harness/sample.ts'
import { SPEC } from '../fixtures/gitcommit.ts'
import { judge, parseResource } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'

const KINDS = [
  ['GitCommit', GITCOMMIT_SPEC, { ...SPEC, provider: 'gitlab' }],
  [
    'PullRequest',
    PULLREQUEST_SPEC,
    {
      repository: 'ssh://git@git.example.com/acme/shop.git',
      baseBranch: 'main',
      headBranch: 'next',
      title: 'Next',
      labels: ['a'],
      provider: 'gitea',
      providerConfig: { baseURL: 'https://git.example.com/api/v1' },
      credentials: { secretName: 'git', tokenKey: 'token' },
    },
  ],
] as const

// Of forms that fit many of the fields' patterns: with and without "_", in lower case, in several lines.
const TOKENS = [
  `ghp_${'16C7e42F292c'.repeat(3)}`,
  `AKIA${'Q7ABCDEF'.repeat(2)}`,
  `glpat-${'a1b2c3d4e5'.repeat(2)}`,
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n',
] as const

/** The fields of a schema that hold text, as `credentials.tokenKey` or `labels[0]`. */
function textFields(schema: Schema, path: string): readonly string[] {
  if (schema.type === 'string' || schema.type === undefined) return [path]
  if (schema.items !== undefined) return textFields(schema.items, `${path}[0]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    textFields(property, path === '' ? name : `${path}.${name}`),
  )
}

/** A copy of the spec with this text in the field. */
function withText(spec: object, field: string, text: string): object {
  const [, name = '', item, rest] = /^(\w+)(\[0\])?(?:\.(.*))?$/.exec(field) ?? []
  const before: unknown = Object.entries(spec).find(([key]) => key === name)?.[1]
  const first: unknown = item !== undefined && Array.isArray(before) ? before[0] : before
  const value = rest === undefined ? text : withText(Object(first ?? {}), rest, text)
  return { ...spec, [name]: item === undefined ? value : [value] }
}

/** Where a token stands in a text of this field. */
function pasted(field: string, token: string): readonly string[] {
  const address = field === 'repository' ? 'https://git.example.com/acme/' : 'https://git.example.com/'
  const own =
    field === 'repository' ? [`https://${token}@git.example.com/a`, `https://${token}.example.com/a/b`] : []
  return [token, `a ${token}`, `${address}${token}`, ...own]
}

for (const [kind, schema, spec] of KINDS) {
  for (const field of textFields(schema, '')) {
    t.test(`a credential in spec.${field} of a ${kind} is refused and not repeated`, async (t) => {
      for (const token of TOKENS) {
        for (const text of sample(pasted(field, token), () => `${kind} ${field} ${token}`)) {
          const metadata = { name: 'x', namespace: 'shop', uid: 'u', generation: 1, resourceVersion: '1' }
          const value = { apiVersion: 'commitlet.dev/v1', kind, metadata, spec: withText(spec, field, text) }
          const { fieldErrors, warnings } = await judge(
            value,
            reviewContext({ allowedRepositories: 'a.example' }),
          )
          const own = fieldErrors.filter((error) => error.field === `spec.${field}`)
          t.match(own, [{ reason: 'InvalidSpec', message: /looks like a token or a private key/ }], text)
          const said = [...fieldErrors.map(({ message }) => message), ...warnings, failureOf(value)]
          t.notMatch(said.join('\n').toLowerCase(), token.trim().toLowerCase())
        }
      }
    })
  }
}

function failureOf(stored: unknown): string {
  try {
    parseResource(stored)
  } catch (error) {
    if (error instanceof Failure) return error.message
  }
  throw new Error('it was parsed')
}

t.test('ordinary specs are not refused', async (t) => {
  for (const [, schema, spec] of KINDS) t.strictSame(credentialErrors(spec, schema, 'spec'), [])
  const body = { body: `Digest sha256:${'0a'.repeat(32)}\n${Buffer.alloc(3_000, 7).toString('base64')}` }
  t.strictSame(credentialErrors(body, PULLREQUEST_SPEC, 'spec'), [])
})

t.test('the end of a text that is too long, and an unknown field, are refused for that', async (t) => {
  const long = `${'x '.repeat(40_000)}${TOKENS[0]}`
  t.strictSame(credentialErrors({ branch: long, other: TOKENS[0] }, GITCOMMIT_SPEC, 'spec'), [])
  for (const spec of [undefined, null, 'x', [], { labels: 'x', credentials: 7 }])
    t.strictSame(credentialErrors(spec, PULLREQUEST_SPEC, 'spec'), [])
})

t.test('a name and a requested-at are searched as well', async (t) => {
  const [token] = TOKENS
  const key = 'commitlet.dev/requested-at'
  const fields = (metadata: unknown): readonly string[] =>
    metadataCredentialErrors({ metadata }).map(({ field }) => field)
  t.strictSame(
    fields({ name: token, generateName: `${token}-`, annotations: { [key]: token, other: token } }),
    ['metadata.name', 'metadata.generateName', `metadata.annotations[${key}]`],
  )
  t.strictSame(fields({ name: 'shop', annotations: { [key]: '2026-10-04T12:00:00Z' } }), [])
  t.strictSame(metadataCredentialErrors(undefined), [])
})
