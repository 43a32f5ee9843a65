import { serviceAccount } from '../../functions/domain/requester/user-info.ts'
import { GROUP } from '../../functions/domain/resource/api-names.ts'
import { parsedJSON } from '../../functions/domain/json-value.ts'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import type { Step } from '../terminal/steps.ts'
import { at, good, unseen, wrong, type Installed } from './installed.ts'

/** A right of a service account in the terms of RBAC; without a namespace in all of them. */
interface Right {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

const BOTH = ['gitcommits', 'pullrequests'] as const
const REVIEWS = { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }

/** The rights of manifests/rbac-function.yaml and manifests/rbac-webhook.yaml. */
function rightsOf(systemNamespace: string): Readonly<Record<string, readonly Right[]>> {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: systemNamespace }
  return {
    'commitlet-function': [
      ...BOTH.map((resource) => ({ verb: 'get', group: GROUP, resource })),
      ...BOTH.map((resource) => ({ verb: 'patch', group: GROUP, resource, subresource: 'status' })),
      REVIEWS,
      { verb: 'create', group: 'events.k8s.io', resource: 'events' },
      { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices', namespace: 'default' },
    ],
    'commitlet-webhook': [
      ...BOTH.flatMap((resource) =>
        ['get', 'list', 'watch'].map((verb) => ({ verb, group: GROUP, resource })),
      ),
      REVIEWS,
      { verb: 'create', ...lease },
      ...['get', 'update'].map((verb) => ({ verb, ...lease, name: 'commitlet-sweeps' })),
    ],
  }
}

/** Whether both service accounts have the rights that manifests/ gives them. */
export async function rightsSteps({ server, systemNamespace }: Installed): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const [name, rights] of Object.entries(rightsOf(systemNamespace))) {
    const answers = await Promise.all(rights.map((right) => review(server, { systemNamespace, name, right })))
    steps.push(stepOf(name, rights, answers))
  }
  return steps
}

function stepOf(name: string, rights: readonly Right[], answers: readonly Answer[]): Step {
  const step = `rights of ${name.replace('commitlet-', '')}`
  const none = answers.find((answer) => typeof answer === 'string')
  if (none !== undefined) return { ...unseen(step, none), needed: true }
  const lacking = rights.filter((_, i) => answers[i] === false)
  if (lacking.length === 0) return good(step, `The service account ${name} has the rights of manifests/.`)
  const shown = lacking.map(
    ({ verb, resource, subresource }) =>
      `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
  )
  return wrong(step, `The service account ${name} may not ${shown.join(', ')}; kubectl apply -k manifests.`)
}

interface Asked {
  readonly systemNamespace: string
  readonly name: string
  readonly right: Right
}

/** Whether there is the right, or a sentence that says why that is not known. */
type Answer = boolean | string

async function review(server: ApiServer, { systemNamespace, name, right }: Asked): Promise<Answer> {
  const { username, groups } = serviceAccount(systemNamespace, name)
  const answer = await server({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, groups, resourceAttributes: right },
    },
  })
  if (answer.status === 403)
    return 'You may not create subjectaccessreviews, so these rights were not looked at; an operator may.'
  const allowed = at(parsedJSON(answer.text), 'status', 'allowed')
  if (typeof allowed === 'boolean') return allowed
  return `The API server answers no review of access (HTTP ${answer.status}), so these rights were not looked at; try it again, and then its log.`
}
