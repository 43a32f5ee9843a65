import { createHash } from 'node:crypto'
import { elements, member, textMember } from '../../functions/domain/json-value.ts'
import type { Step } from '../terminal/steps.ts'
import { at, environmentOf, good, list, read, refused, unseen, wrong, type Installed } from './installed.ts'

/** The template of a part's pods. */
interface Part {
  readonly name: string
  /** Undefined: not installed, or you may not read it. */
  readonly template: unknown
  readonly state: 'found' | 'missing' | 'refused'
}

/** Both parts: whether they are there and ready, their versions, their stamp key, the sink, and whose turn it is to sweep. */
export async function partSteps(installed: Installed): Promise<readonly Step[]> {
  const { systemNamespace: namespace } = installed
  const webhook = await partAt('webhook', installed, [
    `/apis/apps/v1/namespaces/${namespace}/deployments/commitlet-webhook`,
  ])
  const functionPart = await partAt('function', installed, [
    `/apis/serving.knative.dev/v1/namespaces/${namespace}/services/commitlet-function`,
    `/apis/apps/v1/namespaces/${namespace}/deployments/commitlet-function`,
  ])
  return [
    partStep(webhook),
    partStep(functionPart),
    await podsStep(installed),
    await keyStep([webhook, functionPart], installed),
    sinkStep(webhook),
    await leaseStep(installed),
  ]
}

/** The first of these that is there: a Knative Service, or a Deployment. */
async function partAt(name: string, installed: Installed, paths: readonly string[]): Promise<Part> {
  let state: Part['state'] = 'missing'
  for (const path of paths) {
    const found = await read(installed, path)
    if (found === 'refused') state = 'refused'
    else if (found !== 'missing')
      return { name, template: at(found.object, 'spec', 'template', 'spec'), state: 'found' }
  }
  return { name, template: undefined, state }
}

function partStep({ name, state, template }: Part): Step {
  if (state === 'refused') return refused(name, `the ${name}'s Deployment or Service`)
  if (state === 'missing')
    return wrong(name, `The ${name} is not installed here; see docs/install.md, and --system-namespace.`)
  return good(name, `It is installed, with the image ${imageOf(template)}.`)
}

function imageOf(template: unknown): string {
  return textMember(elements(member(template, 'containers'))[0], 'image') ?? ''
}

async function podsStep(installed: Installed): Promise<Step> {
  const step = 'pods'
  const selector = encodeURIComponent('app.kubernetes.io/part-of=commitlet')
  const pods = await list(
    installed,
    `/api/v1/namespaces/${installed.systemNamespace}/pods?labelSelector=${selector}`,
  )
  if (pods === undefined) return refused(step, 'the pods')
  const unready = pods
    .filter((pod) => !isReady(pod))
    .map((pod) => textMember(member(pod, 'metadata'), 'name') ?? '')
  if (unready.length > 0)
    return wrong(step, `Not ready: ${unready.join(', ')}; kubectl describe pod says why.`)
  if (pods.length === 0)
    return unseen(
      step,
      'No pod is running here; the function may have scaled to zero, but the webhook does not.',
    )
  const versions = [...new Set(pods.map((pod) => imageOf(member(pod, 'spec')).split(':').at(-1) ?? ''))]
  const said = `${pods.length} pods are ready`
  if (versions.length > 1)
    return wrong(
      step,
      `${said}, of different versions: ${versions.join(', ')}; wait for the roll-out, or finish the upgrade.`,
    )
  const [only = ''] = versions
  if (only === installed.version) return good(step, `${said}, of version ${only}, as this command.`)
  return good(step, `${said}, of version ${only}; this command is ${installed.version}.`)
}

function isReady(pod: unknown): boolean {
  const conditions = elements(at(pod, 'status', 'conditions'))
  return conditions.some((one) => member(one, 'type') === 'Ready' && member(one, 'status') === 'True')
}

/** The Secret that a part mounts where STAMP_KEY_FILE is; undefined: it has none. */
function keySecretOf({ template }: Part): string | undefined {
  const file = environmentOf(template).get('STAMP_KEY_FILE')
  if (file === undefined || file === '') return undefined
  const mounts = elements(member(elements(member(template, 'containers'))[0], 'volumeMounts'))
  const mount = mounts.find((one) => file.startsWith(`${textMember(one, 'mountPath') ?? ' '}/`))
  const volume = elements(member(template, 'volumes')).find(
    (one) => member(one, 'name') === member(mount, 'name'),
  )
  return textMember(member(volume, 'secret'), 'secretName')
}

async function keyStep(parts: readonly Part[], installed: Installed): Promise<Step> {
  const step = 'stamp key'
  if (parts.some(({ state }) => state !== 'found')) return unseen(step, 'Both parts have to be seen first.')
  const names = parts.map(keySecretOf)
  const without = parts.filter((_, i) => names[i] === undefined).map(({ name }) => name)
  if (without.length > 0)
    return wrong(
      step,
      `STAMP_KEY_FILE of the ${without.join(' and the ')} names no file of a Secret, so stamps are not signed or not checked; run manifests/setup/stamp-key.sh, and mount the Secret in both parts.`,
    )
  const [one = '', other = ''] = names
  if (one === other) return presentStep(step, one, installed)
  const [first, second] = [await digestOf(one, installed), await digestOf(other, installed)]
  if (first === undefined || second === undefined)
    return unseen(
      step,
      `The parts mount the Secrets ${one} and ${other}, which you may not read to compare them.`,
    )
  if (first === second) return good(step, 'Both parts have the same stamp key.')
  return wrong(
    step,
    `The keys in the Secrets ${one} and ${other} differ, so no stamp is accepted; mount one Secret in both parts.`,
  )
}

async function presentStep(step: string, name: string, installed: Installed): Promise<Step> {
  const found = await read(installed, `/api/v1/namespaces/${installed.systemNamespace}/secrets/${name}`)
  if (found === 'missing')
    return wrong(
      step,
      `There is no Secret ${name}, so neither part starts; run manifests/setup/stamp-key.sh.`,
    )
  return good(step, `Both parts mount the Secret ${name}.`)
}

/** Equal for equal keys, and shown to nobody. */
async function digestOf(name: string, installed: Installed): Promise<string | undefined> {
  const found = await read(installed, `/api/v1/namespaces/${installed.systemNamespace}/secrets/${name}`)
  if (typeof found === 'string') return undefined
  return createHash('sha256')
    .update(JSON.stringify(member(found.object, 'data')))
    .digest('hex')
}

function sinkStep({ state, template }: Part): Step {
  const step = 'sink'
  if (state !== 'found') return unseen(step, 'The webhook has to be seen first.')
  const sink = environmentOf(template).get('K_SINK') ?? ''
  if (sink !== '') return good(step, `The webhook sends events to ${URL.parse(sink)?.host ?? 'its sink'}.`)
  return wrong(
    step,
    'The webhook has no K_SINK, so nobody hears of what is applied; set it, or use a trigger of manifests/triggers.',
  )
}

/** A holder that has not renewed the Lease for this long is gone, in milliseconds. */
const STALE_MS = 90_000

async function leaseStep(installed: Installed): Promise<Step> {
  const step = 'sweeps'
  const path = `/apis/coordination.k8s.io/v1/namespaces/${installed.systemNamespace}/leases/commitlet-sweeps`
  const found = await read(installed, path)
  if (found === 'refused') return refused(step, 'the Lease commitlet-sweeps')
  if (found === 'missing')
    return wrong(step, 'There is no Lease commitlet-sweeps: no webhook has begun to sweep; see its log.')
  const holder = textMember(at(found.object, 'spec'), 'holderIdentity') ?? ''
  const renewed = Date.parse(textMember(at(found.object, 'spec'), 'renewTime') ?? '')
  const age = installed.now.getTime() - renewed
  if (holder !== '' && age < STALE_MS)
    return good(step, `${holder} sweeps, and renewed its Lease ${Math.max(0, Math.round(age / 1000))} s ago.`)
  return wrong(
    step,
    `Nobody sweeps: the Lease commitlet-sweeps was last renewed ${Number.isNaN(age) ? 'never' : `${Math.round(age / 1000)} s ago`}; see the log of the webhook.`,
  )
}
