import { X509Certificate } from 'node:crypto'
import { elements, member, parsedJSON, textMember } from '../../functions/domain/json-value.ts'
import { API_VERSION, PLURALS } from '../../functions/domain/resource/api-names.ts'
import type { Step } from '../terminal/steps.ts'
import { at, environmentOf, good, read, refused, unseen, wrong, type Installed } from './installed.ts'

const CONFIGURATIONS = ['mutating', 'validating'] as const
const DAY_MS = 86_400_000
/** A certificate that ends within these days is a finding. */
const SOON_DAYS = 14

/** The webhook configurations, their authority, and whether the API server reaches the webhook. */
export async function webhookSteps(installed: Installed): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const what of CONFIGURATIONS) steps.push(...(await configurationSteps(what, installed)))
  steps.push(await certificateStep(installed), await reachStep(installed))
  return steps
}

async function configurationSteps(
  what: (typeof CONFIGURATIONS)[number],
  installed: Installed,
): Promise<readonly Step[]> {
  const step = `${what} webhook`
  const path = `/apis/admissionregistration.k8s.io/v1/${what}webhookconfigurations/commitlet`
  const found = await read(installed, path)
  if (found === 'refused') return [refused(step, `the ${what} webhook configurations`)]
  if (found === 'missing')
    return [
      wrong(
        step,
        `There is no ${what} webhook configuration commitlet, so nobody stamps or checks; kubectl apply -k manifests.`,
      ),
    ]
  const hooks = elements(member(found.object, 'webhooks'))
  const open = hooks.filter((hook) => member(hook, 'failurePolicy') !== 'Fail')
  if (open.length > 0)
    return [
      wrong(
        step,
        'Its failurePolicy is not Fail, so resources pass unchecked while the webhook is down; set it to Fail.',
      ),
    ]
  const bundles = hooks.map((hook) => textMember(member(hook, 'clientConfig'), 'caBundle') ?? '')
  return [bundleStep(step, bundles, installed.now)]
}

function bundleStep(step: string, bundles: readonly string[], now: Date): Step {
  if (bundles.length === 0 || bundles.includes(''))
    return wrong(
      step,
      'It has no caBundle, so the API server cannot trust the webhook; run manifests/setup/certificate.sh, or install the overlay for cert-manager.',
    )
  const ends = bundles.flatMap((bundle) => certificatesIn(Buffer.from(bundle, 'base64').toString()))
  const last = Math.max(...ends)
  if (ends.length === 0)
    return wrong(step, 'Its caBundle has no certificate; run manifests/setup/certificate.sh again.')
  return endStep(step, last, now, 'The authority in its caBundle')
}

/** When each certificate of a PEM text ends, in milliseconds since 1970. */
function certificatesIn(pem: string): readonly number[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return found.flatMap((one) => {
    try {
      return [new X509Certificate(one).validToDate.getTime()]
    } catch {
      return []
    }
  })
}

function endStep(step: string, end: number, now: Date, what: string): Step {
  const days = Math.floor((end - now.getTime()) / DAY_MS)
  const date = new Date(end).toISOString().slice(0, 10)
  if (days < 0) return wrong(step, `${what} ended on ${date}; renew it (docs/install.md).`)
  if (days < SOON_DAYS)
    return wrong(step, `${what} ends on ${date}, in ${days} days; renew it (docs/install.md).`)
  return good(step, `${what} is valid until ${date}.`)
}

async function certificateStep(installed: Installed): Promise<Step> {
  const step = 'certificate'
  const name = await secretOf(installed)
  const found = await read(installed, `/api/v1/namespaces/${installed.systemNamespace}/secrets/${name}`)
  if (found === 'refused')
    return unseen(
      step,
      `You may not read the Secret ${name}, so the end of the webhook's certificate stays unseen.`,
    )
  if (found === 'missing')
    return wrong(
      step,
      `There is no Secret ${name} in ${installed.systemNamespace}; run manifests/setup/certificate.sh, or install the overlay for cert-manager.`,
    )
  const text = textMember(member(found.object, 'data'), 'tls.crt') ?? ''
  const [end] = certificatesIn(Buffer.from(text, 'base64').toString())
  if (end === undefined)
    return wrong(step, `The Secret ${name} has no certificate in tls.crt; make it again (docs/install.md).`)
  return endStep(step, end, installed.now, 'The certificate of the webhook')
}

/** Where the webhook keeps its certificate itself (TLS_SECRET), else the Secret of the other ways to install it. */
async function secretOf(installed: Installed): Promise<string> {
  const path = `/apis/apps/v1/namespaces/${installed.systemNamespace}/deployments/commitlet-webhook`
  const found = await read(installed, path)
  const template = typeof found === 'string' ? undefined : at(found.object, 'spec', 'template', 'spec')
  return environmentOf(template).get('TLS_SECRET') ?? 'commitlet-webhook-tls'
}

/** A resource that the webhook refuses, so that nothing is ever stored, as a dry run besides. */
async function reachStep({ server, systemNamespace }: Installed): Promise<Step> {
  const step = 'admission'
  const path = `/apis/${API_VERSION}/namespaces/${systemNamespace}/${PLURALS.GitCommit}?dryRun=All`
  const body = {
    apiVersion: API_VERSION,
    kind: 'GitCommit',
    metadata: { name: 'commitlet-doctor' },
    spec: {},
  }
  const answer = await server({ method: 'POST', path, body })
  const message = textMember(parsedJSON(answer.text), 'message') ?? ''
  if (/failed calling webhook/.test(message))
    return wrong(
      step,
      `The API server does not reach the webhook: ${causeIn(message)}; see docs/troubleshooting.md.`,
    )
  if (
    /admission webhook|mutate\.commitlet\.dev/.test(message) ||
    member(at(parsedJSON(answer.text), 'details'), 'causes') !== undefined
  )
    return good(step, 'The API server reaches the webhook, which refuses what is wrong.')
  if (answer.status === 403)
    return refused(
      step,
      `whether the webhook answers: that takes the right to \`create\` gitcommits in ${systemNamespace}`,
    )
  return wrong(
    step,
    `A GitCommit without a spec was not refused by the webhook (${answer.status}); check the webhook configurations.`,
  )
}

function causeIn(message: string): string {
  return (message.split(/failed to call webhook: |failed calling webhook [^:]*: /).at(-1) ?? message).slice(
    0,
    300,
  )
}
