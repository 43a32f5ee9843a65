import { elements, entries, member, textMember } from '../../functions/domain/json-value.ts'
import {
  API_VERSION,
  GROUP,
  KINDS,
  PLURALS,
  VERSION,
  type Kind,
} from '../../functions/domain/resource/api-names.ts'
import { GITCOMMIT_SPEC } from '../../functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../../functions/domain/crd/pull-request.ts'
import type { Step } from '../terminal/steps.ts'
import { at, good, read, refused, wrong, type Installed } from './installed.ts'

/** The oldest minor version of Kubernetes 1 that has selectable fields switched on. */
const OLDEST_MINOR = 32
const SPECS: Readonly<Record<Kind, unknown>> = { GitCommit: GITCOMMIT_SPEC, PullRequest: PULLREQUEST_SPEC }

/** The version of the API server, and the two kinds. */
export async function apiSteps(installed: Installed): Promise<readonly Step[]> {
  const steps = [await versionStep(installed)]
  for (const kind of KINDS) steps.push(await kindStep(kind, installed))
  return steps
}

async function versionStep(installed: Installed): Promise<Step> {
  const step = 'Kubernetes'
  const found = await read(installed, '/version')
  if (typeof found === 'string') return refused(step, 'the version of the API server')
  const version = textMember(found.object, 'gitVersion') ?? ''
  const minor = Number.parseInt(textMember(found.object, 'minor') ?? '')
  if (minor >= OLDEST_MINOR) return good(step, `The API server is ${version}.`)
  return wrong(
    step,
    `The API server is ${version}, but Commitlet needs 1.${OLDEST_MINOR} or newer; upgrade the cluster.`,
  )
}

async function kindStep(kind: Kind, installed: Installed): Promise<Step> {
  const name = `${PLURALS[kind]}.${GROUP}`
  const found = await read(installed, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`)
  if (found === 'refused') return servedStep(kind, installed)
  if (found === 'missing')
    return wrong(kind, `The CustomResourceDefinition ${name} is not installed; kubectl apply -k manifests.`)
  const conditions = elements(at(found.object, 'status', 'conditions'))
  const established = conditions.find((condition) => member(condition, 'type') === 'Established')
  if (member(established, 'status') !== 'True')
    return wrong(
      kind,
      `The CustomResourceDefinition ${name} is not established; kubectl describe crd ${name} says why.`,
    )
  const version = elements(at(found.object, 'spec', 'versions')).find(
    (one) => member(one, 'name') === VERSION,
  )
  const known = at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties')
  const lacking = entries(member(SPECS[kind], 'properties')).filter(
    ([field]) => member(known, field) === undefined,
  )
  if (lacking.length === 0)
    return good(kind, `${API_VERSION} is served, with every field that this release knows.`)
  const fields = lacking.map(([field]) => `spec.${field}`).join(', ')
  return wrong(
    kind,
    `The CustomResourceDefinition ${name} is older than this command and lacks ${fields}; kubectl apply -k manifests of this release.`,
  )
}

/** Everybody may ask what is served. */
async function servedStep(kind: Kind, installed: Installed): Promise<Step> {
  const found = await read(installed, `/apis/${API_VERSION}`)
  const served = typeof found === 'string' ? [] : elements(member(found.object, 'resources'))
  if (served.some((one) => member(one, 'name') === PLURALS[kind]))
    return good(kind, `${API_VERSION} is served.`)
  return wrong(kind, `The API server does not serve ${kind} of ${API_VERSION}; kubectl apply -k manifests.`)
}
