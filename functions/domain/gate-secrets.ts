import { accessTo, mayAccess } from './access.ts'
import type { SecretRight } from './access.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { isRecord, member, textMember } from './member.ts'
import type { Outside } from './outside.ts'
import { API_VERSION, GROUP } from './resources.ts'
import { unusableSecret } from './secret-binding.ts'
import { shownName } from './user-info.ts'

/** Which Secrets the subject may use, by the field that names them, and which not. */
export interface SecretsVerdict {
  readonly faults: readonly Fault[]
  readonly rights: SecretRights
}

/** How the subject may use the Secret of each field; absent where the field names none, or there is no right to it. */
export type SecretRights = Readonly<Partial<Record<`spec.${(typeof FIELDS)[number]}`, SecretRight>>>

const FIELDS = ['credentials', 'fallbackCredentials'] as const
const SECRETS = { plural: 'secrets', namespaced: true } as const

/**
 * Asks for each Secret that the spec names whether the subject may `get` it, else `use` it; where the spec names none,
 * whether he may `use` the operator's default credentials in his namespace.
 */
export async function judgeSecrets(
  spec: unknown,
  found: readonly Fault[],
  outside: Outside,
): Promise<SecretsVerdict> {
  const named = FIELDS.flatMap((field) => {
    const name = textMember(member(spec, field), 'secretName') ?? ''
    const faulty = found.some((fault) => fault.field === `spec.${field}.secretName`)
    return name === '' || faulty ? [] : [{ field: `spec.${field}` as const, name }]
  })
  const judged = await Promise.all(
    named.map(async ({ field, name }) => ({ field, name, right: await rightTo(name, outside) })),
  )
  const unsaid = isRecord(spec) && member(spec, 'credentials') === undefined
  const unusable = unsaid && !found.some(({ field }) => field === 'spec.credentials')
  const byDefault = unusable && !(await mayUseDefault(outside)) ? [noDefault(outside)] : []
  const refused = judged.filter(({ right }) => right === undefined)
  // The sentence names the Secret: of one that is named twice it is said once.
  const faults = refused
    .filter(({ name }, index) => refused.findIndex((other) => other.name === name) === index)
    .map(({ field, name }) => refusal(`${field}.secretName`, name, outside))
  const rights = judged.reduce<SecretRights>(
    (known, { field, right }) => (right === undefined ? known : { ...known, [field]: right }),
    {},
  )
  return { faults: [...byDefault, ...faults], rights }
}

async function rightTo(name: string, { namespace, review }: Outside): Promise<SecretRight | undefined> {
  const secret = { apiVersion: 'v1', namespace, name }
  for (const verb of ['get', 'use'] as const) {
    if (await mayAccess(accessTo(verb, SECRETS, secret), review)) return verb
  }
  return undefined
}

// A name for RBAC alone: there is no such object.
const DEFAULT = { plural: 'defaultcredentials', namespaced: true } as const

function mayUseDefault({ namespace, review }: Outside): Promise<boolean> {
  const object = { apiVersion: API_VERSION, namespace, name: 'default' }
  return mayAccess(accessTo('use', DEFAULT, object), review)
}

function noDefault({ namespace, subject }: Outside): Fault {
  const complaint =
    `is missing, and ${shownName(subject.username)} may not \`use\` the operator's default credentials ` +
    `(${DEFAULT.plural}.${GROUP}) in the namespace ${namespace}; name a Secret there, or ask for that right.`
  return fault('spec.credentials', complaint, 'ReferenceForbidden')
}

function refusal(field: string, name: string, { namespace, subject }: Outside): Fault {
  return {
    reason: 'ReferenceForbidden',
    field,
    message: unusableSecret({ namespace, name }, subject.username),
  }
}
