import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { withControlPlane } from '../harness/control-plane.ts'
import { ROOT } from './read.ts'

const FILE = new URL('manifests/optional/network-policy.yaml', ROOT)
const text = readFileSync(FILE, 'utf8')
const ports = readFileSync(new URL('manifests/optional/function-ports.yaml', ROOT), 'utf8')
/** With every commented line for the operator's own values uncommented; prose stays a comment. */
const filled = text.replace(/^( *)# (?=( *- \w+:| {2,}\w+:|(from|ports):$))/gm, '$1')

interface Rule {
  readonly from?: readonly object[]
  readonly ports: readonly { readonly port: number }[]
}

/** Ports of this policy that every pod may call. */
function open(of: string, policies: string): readonly number[] {
  const all = parseAllDocuments(policies).map((document) => document.toJS())
  const { ingress } = all.find(({ metadata }) => metadata.name === of).spec
  return ingress
    .filter(({ from }: Rule) => from === undefined)
    .flatMap(({ ports }: Rule) => ports.map(({ port }) => port))
}

t.test('no port of the function is open to every pod, and of the webhook the one for reviews', async (t) => {
  t.same(open('commitlet-function', text), [])
  t.same(open('commitlet-webhook', text), [8443])
})

t.test('with your addresses filled in, no port at all is', async (t) => {
  t.equal(filled.match(/192\.0\.2\.0/g)?.length, 2)
  t.notMatch(filled, /^ *# .*# yours/m, 'no line is left in its comment')
  t.same(open('commitlet-function', filled), [])
  t.same(open('commitlet-webhook', filled), [])
})

t.test(
  'of the ports of the function on Knative, those that its node alone calls are closed to pods',
  async (t) => {
    t.same(open('commitlet-function-ports', ports), [8012, 8013, 8112, 9090, 9464])
    const called = /- port: (?:8012|8022)/g
    t.same(filled.match(called), ['- port: 8012', '- port: 8012', '- port: 8022'], 'from the nodes alone')
    const selectors = [ports, text].map((policies) => parseAllDocuments(policies)[0]?.toJS().spec.podSelector)
    t.same(selectors[0], selectors[1])
  },
)

withControlPlane(t, async (t, plane) => {
  const namespace = await plane.createNamespace()
  const all = { 'as it stands': text, 'filled in': filled, 'ports alone': ports }
  for (const [what, policies] of Object.entries(all)) {
    t.test(`the policy is accepted without a warning, ${what}`, async (t) => {
      const ran = await plane.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], {
        input: policies.replaceAll('namespace: commitlet-system', `namespace: ${namespace}`),
      })
      t.equal(ran.stderr, '')
      t.match(ran.stdout, /^(networkpolicy\S+ created .*\n){1,2}$/)
    })
  }
})
