import { accessTo, mayAccess } from './access.ts'
import type { SecretRight } from './access.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { ReviewContext } from './review-context.ts'
import { API_VERSION, GROUP } from '../resource/api-names.ts'
import type { GitCommitSpec, PullRequestSpec, RemoteSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import { unusableSecret } from '../credentials/secret-binding.ts'
import { displayName } from '../requester/user-info.ts'

/** The errors in the fields that name Secrets, and the subject's rights to these Secrets. */
export interface SecretsVerdict {
  readonly fieldErrors: readonly FieldError[]
  readonly rights: SecretRights
}

/** How the subject may use the Secret of each field; absent if the field names none, or the subject has no right. */
export type SecretRights = Readonly<Partial<Record<`spec.${(typeof FIELDS)[number]}`, SecretRight>>>

/** What of a spec names Secrets. */
type NamingSecrets = RemoteSpec & Pick<GitCommitSpec, 'signing'>

const FIELDS = ['credentials', 'fallbackCredentials', 'signing'] as const
/** As the API server serves them. */
export const SECRETS = { plural: 'secrets', namespaced: true } as const

/**
 * Checks for each Secret that the spec names whether the subject may `get` it, else `use` it; if the spec names none,
 * whether they may `use` the operator's default credentials in that namespace.
 */
export async function judgeSecrets(
  spec: Draft<NamingSecrets>,
  found: readonly FieldError[],
  context: ReviewContext,
): Promise<SecretsVerdict> {
  const named = FIELDS.flatMap((field) => {
    const name = spec[field]?.secretName ?? ''
    const faulty = found.some((error) => error.field === `spec.${field}.secretName`)
    return name === '' || faulty ? [] : [{ field: `spec.${field}` as const, name }]
  })
  const judged = await Promise.all(
    named.map(async ({ field, name }) => ({ field, name, right: await rightTo(name, context) })),
  )
  const usesDefault =
    spec.credentials === undefined && !found.some(({ field }) => field === 'spec.credentials')
  const defaultErrors = usesDefault && !(await mayUseDefault(context)) ? [noDefault(context)] : []
  const refused = judged.filter(({ right }) => right === undefined)
  // The message names the Secret: for a Secret that is named twice, one is enough.
  const fieldErrors = refused
    .filter(({ name }, index) => refused.findIndex((other) => other.name === name) === index)
    .map(({ field, name }) => refusal(`${field}.secretName`, name, context))
  const rights = judged.reduce<SecretRights>(
    (known, { field, right }) => (right === undefined ? known : { ...known, [field]: right }),
    {},
  )
  return { fieldErrors: [...defaultErrors, ...fieldErrors], rights }
}

async function rightTo(name: string, { namespace, review }: ReviewContext): Promise<SecretRight | undefined> {
  for (const right of ['get', 'use'] as const) {
    if (await hasRight(right, { namespace, name }, review)) return right
  }
  return undefined
}

/** Asks whether the subject of the review has this right to the Secret. */
export function hasRight(
  right: SecretRight,
  secret: { readonly namespace: string; readonly name: string },
  review: ReviewContext['review'],
): Promise<boolean> {
  return mayAccess(accessTo(right, SECRETS, { apiVersion: 'v1', ...secret }), review)
}

// A name only for RBAC: there is no such object.
const DEFAULT = { plural: 'defaultcredentials', namespaced: true } as const

function mayUseDefault({ namespace, review }: ReviewContext): Promise<boolean> {
  const object = { apiVersion: API_VERSION, namespace, name: 'default' }
  return mayAccess(accessTo('use', DEFAULT, object), review)
}

function noDefault({ namespace, subject }: ReviewContext): FieldError {
  const complaint =
    `is missing, and ${displayName(subject.username)} may not \`use\` the operator's default credentials ` +
    `(${DEFAULT.plural}.${GROUP}) in the namespace ${namespace}; name a Secret there, or ask for that right.`
  return fieldError('spec.credentials', complaint, 'ReferenceForbidden')
}

function refusal(field: string, name: string, { namespace, subject }: ReviewContext): FieldError {
  return {
    reason: 'ReferenceForbidden',
    field,
    message: unusableSecret({ namespace, name }, subject.username),
  }
}

/**
 * The branch of a fork is in a repository that neither an annotation nor the operator has named: only a user who may
 * read the Secret may use it there. If a Secret may not be used at all, nothing is reported.
 */
export function forkErrors(spec: Draft<PullRequestSpec>, rights: SecretRights): readonly FieldError[] {
  const head = spec.headBranch ?? ''
  if (!head.includes(':')) return []
  const field = 'spec.headBranch'
  if (spec.credentials === undefined) {
    const complaint =
      "is the branch of a fork, for which the operator's default credentials are not allowed; name a Secret."
    return [fieldError(field, complaint, 'ReferenceForbidden')]
  }
  if (!FIELDS.some((name) => rights[`spec.${name}`] === 'use')) return []
  const complaint =
    'is the branch of a fork, for which you need the right to `get` the Secret; `use` is not enough.'
  return [fieldError(field, complaint, 'ReferenceForbidden')]
}
