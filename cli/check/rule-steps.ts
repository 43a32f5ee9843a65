import { accessTo, type Access } from '../../functions/domain/gate/access.ts'
import { judge, type Verdict } from '../../functions/domain/gate/gate.ts'
import { kindOf } from '../../functions/domain/gate/references.ts'
import { reviewContextOf, type OperatorRules } from '../../functions/domain/gate/review-context.ts'
import { writtenReferences } from '../../functions/domain/commit/references.ts'
import { displayName, type UserInfo } from '../../functions/domain/requester/user-info.ts'
import type { SoundResource } from '../../functions/domain/schema/parse.ts'
import type { Connection } from '../local/connection.ts'
import type { LocalResource } from '../local/resource.ts'
import type { Step } from '../terminal/steps.ts'

/** What the decision about a resource needs. */
export interface RuleSources {
  readonly connection: Pick<Connection, 'cluster' | 'unreviewed'>
  readonly settings: OperatorRules
  /** Whose rights count. */
  readonly subject: UserInfo
}

/** The decision of admission about a resource, as steps: its rules, and the rights of its requester. */
export async function ruleSteps(
  { parsed, envelope }: LocalResource,
  { connection, settings, subject }: RuleSources,
): Promise<{ readonly steps: readonly Step[]; readonly verdict: Verdict }> {
  const { cluster, unreviewed } = connection
  const { namespace } = envelope.metadata
  const verdict = await judge(parsed, reviewContextOf(subject, namespace, { cluster, settings }))
  const errors = verdict.fieldErrors
  const ofRights = errors.filter(({ reason }) => reason === 'ReferenceForbidden')
  const ofRules = errors.filter(({ reason }) => reason !== 'ReferenceForbidden')
  const wrong = (step: string, found: typeof errors): readonly Step[] =>
    found.map(({ reason, message }) => ({ step, state: 'wrong', text: message, reason }))
  const rules = wrong('rules', ofRules)
  const rights = wrong('rights', ofRights)
  const user = displayName(subject.username)
  const steps: Step[] = [
    ...(rules.length > 0
      ? rules
      : [good('rules', 'The resource has the right form, and follows every rule.')]),
    ...verdict.warnings.map((text): Step => ({ step: 'warning', state: 'unseen', text })),
    ...(rights.length > 0 ? rights : [reviewed(user, unreviewed.has(subject.username))]),
  ]
  return { steps, verdict }
}

function reviewed(user: string, unseen: boolean): Step {
  if (!unseen) return good('rights', `${user} has every right that the resource needs.`)
  const text = `You may not create subjectaccessreviews, so the rights of ${user} were not looked at; the attempt looks at them.`
  return { step: 'rights', state: 'unseen', text }
}

function good(step: string, text: string): Step {
  return { step, state: 'good', text }
}

/** Whether the function may read what the resource names, as far as whoever asks may know. */
export async function accountSteps(
  resource: SoundResource,
  { served }: Pick<Verdict, 'served'>,
  { account, accountMay }: Pick<Connection, 'account' | 'accountMay'>,
): Promise<readonly Step[]> {
  const step = 'function'
  const missing: string[] = []
  for (const { access, what } of accessesOf(resource, served)) {
    const allowed = await accountMay(access)
    if (allowed === undefined) {
      const text =
        "You may not create subjectaccessreviews, so the rights of the function's account were not looked at."
      return [{ step, state: 'unseen', text }]
    }
    if (!allowed) missing.push(what)
  }
  if (missing.length === 0) return [good(step, 'The function may read what the resource names.')]
  return missing.map((what) => ({
    step,
    state: 'wrong',
    text: `The function (${account.username}) may not \`get\` ${what}; grant it with a Role and a RoleBinding, as in examples/0-rights.yaml.`,
    reason: 'ReferenceForbidden',
  }))
}

interface NeededAccess {
  readonly access: Access
  /** For a sentence. */
  readonly what: string
}

function accessesOf(resource: SoundResource, served: Verdict['served']): readonly NeededAccess[] {
  const { spec, metadata } = resource
  const { namespace: own } = metadata
  const objects = resource.kind === 'GitCommit' ? writtenReferences(resource.spec) : []
  const ofObjects = objects.flatMap(({ reference }): NeededAccess[] => {
    const { apiVersion = '', kind = '', name = '' } = reference as Readonly<Record<string, string>>
    const kindServed = served.get(kindOf({ apiVersion, kind }))
    if (kindServed === undefined) return []
    const namespace = typeof reference.namespace === 'string' ? reference.namespace : own
    const where = kindServed.namespaced ? `${namespace}/` : ''
    const access = accessTo('get', kindServed, { apiVersion, namespace, name })
    return [{ access, what: `the ${kind} ${where}${name}` }]
  })
  const signing = resource.kind === 'GitCommit' ? resource.spec.signing : undefined
  const secrets = [spec.credentials, spec.fallbackCredentials, signing].flatMap(
    (credentials): NeededAccess[] => {
      if (credentials === undefined) return []
      return [secretAccess(own, credentials.secretName)]
    },
  )
  return [...ofObjects, ...secrets]
}

/** The access that the function needs to a Secret. */
export function secretAccess(namespace: string, name: string): NeededAccess {
  const access = accessTo(
    'get',
    { plural: 'secrets', namespaced: true },
    { apiVersion: 'v1', namespace, name },
  )
  return { access, what: `the Secret ${namespace}/${name}` }
}
