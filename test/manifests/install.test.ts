import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { blocksOf } from '../docs/blocks.ts'
import { fillAggregatedRoles } from '../harness/aggregated-roles.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { drawnTests } from '../harness/drawn-test.ts'
import { reviewed } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'
import { readManifest, ROOT } from './read.ts'
import { trySetup } from './setup-scripts.ts'
import { trySourceKey } from './source-key-script.ts'
import { tryTenantQuotas } from './tenant-quotas.ts'
import { tryWithoutKnative } from './without-knative-commands.ts'

const MANIFESTS = new URL('manifests', ROOT).pathname
const KNATIVE = new URL('knative.yaml', ROOT).pathname
const SYSTEM = 'commitlet-system'
const ACCOUNT = `system:serviceaccount:${SYSTEM}:commitlet-function`
const WEBHOOK = `system:serviceaccount:${SYSTEM}:commitlet-webhook`
const DEADLINE = 30_000

/** What is stored, by kind and name, with its resourceVersion: another one where anything was written. */
async function stored(plane: ControlPlane): Promise<string> {
  const columns = 'NAME:.metadata.name,KIND:.kind,VERSION:.metadata.resourceVersion'
  const kinds =
    'crd,clusterroles,clusterrolebindings,serviceaccounts,services,deployments.apps,poddisruptionbudgets,' +
    'validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,prioritylevelconfigurations,' +
    'mutatingwebhookconfigurations,validatingwebhookconfigurations'
  const selected = ['-A', '-l', 'app.kubernetes.io/part-of=commitlet', '-o', `custom-columns=${columns}`]
  return (await plane.kubectl(['get', kinds, ...selected])).stdout
}

function pod(name: string, spec: object): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: SYSTEM }, spec })}\n`
}

withControlPlane(
  t,
  (t, plane) => {
    t.test('the scripts of manifests/setup', (t) => trySetup(t, plane))

    t.test('kubectl apply -k manifests has no warning, and again changes nothing', async (t) => {
      await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'])
      // As the control plane does: these rules stay, too.
      const rules = '{"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}'
      await plane.kubectl(['patch', 'clusterrole', 'commitlet-reader', '--type=merge', '-p', rules])
      const before = await stored(plane)
      t.match(before, /commitlet-webhook +Deployment/)
      const again = await plane.kubectl(['apply', '-k', MANIFESTS])
      t.equal(again.stderr, '')
      t.notMatch(again.stdout, 'created')
      t.equal(await stored(plane), before)
      const read = await plane.kubectl(['get', 'clusterrole', 'commitlet-reader', '-o', 'jsonpath={.rules}'])
      t.match(read.stdout, 'configmaps')
    })

    t.test('a pod that is not restricted is refused where both parts run', async (t) => {
      const spec = { containers: [{ name: 'any', image: 'registry.example.com/any' }] }
      const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], {
        input: pod('any', spec),
        allowFailure: true,
      })
      t.equal(code, 1)
      t.match(stderr, 'violates PodSecurity "restricted:latest"')
    })

    t.test('the pods of both parts are accepted there', async (t) => {
      const [, , deployment] = await readManifest('manifests/webhook.yaml')
      const webhook = await plane.apply(pod('webhook', deployment.spec.template.spec))
      t.equal(webhook.stderr, '')
      const [service] = await readManifest('knative.yaml')
      const { serviceAccountName, enableServiceLinks, containers, volumes } = service.spec.template.spec
      // What Knative fills in: a name, and the port of the probes.
      const { readinessProbe, livenessProbe, ...container } = containers[0]
      const probes = [readinessProbe, livenessProbe].map((probe) => ({
        ...probe,
        httpGet: { ...probe.httpGet, port: 8080 },
      }))
      const filled = { ...container, name: 'user', readinessProbe: probes[0], livenessProbe: probes[1] }
      const spec = { serviceAccountName, enableServiceLinks, containers: [filled], volumes }
      const ofFunction = await plane.apply(pod('function', spec))
      t.equal(ofFunction.stderr, '')
    })

    tryTenantQuotas(t, plane)

    t.test('the function lists the addresses of the API server, and no others', async (t) => {
      const list = (namespace: string): Promise<boolean> =>
        reviewed(plane, ACCOUNT, {
          ...{ verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' },
          namespace,
        })
      await waitFor('right to list', async () => (await list('default')) || undefined, DEADLINE)
      for (const namespace of [SYSTEM, '']) t.notOk(await list(namespace), namespace)
    })

    t.test('a cluster without Knative refuses knative.yaml and changes nothing', async (t) => {
      const before = await stored(plane)
      const { code, stderr } = await plane.kubectl(['apply', '-f', KNATIVE], { allowFailure: true })
      t.equal(code, 1)
      t.match(stderr, 'no matches for kind "Service" in version "serving.knative.dev/v1"')
      t.equal(await stored(plane), before)
    })

    t.test('what is optional is accepted without a warning', async (t) => {
      const applied = await plane.kubectl(['apply', '-f', `${MANIFESTS}/optional`])
      t.equal(applied.stderr, '')
    })

    t.test('the rights of examples/ are what a tenant’s namespace needs, and no more', async (t) => {
      const namespace = await plane.createNamespace()
      const file = new URL('examples/0-rights.yaml', ROOT).pathname
      t.equal((await plane.kubectl(['apply', '-n', namespace, '-f', file])).stderr, '')
      const developer = { user: 'dev', groups: ['developers', 'system:authenticated'] }
      const secret = (verb: string, name: string) => ({ verb, group: '', resource: 'secrets', name })
      const ours = (verb: string, resource: string) => ({ verb, group: 'commitlet.dev', resource })
      const expected = [
        [true, ACCOUNT, secret('get', 'git-credentials')],
        [false, ACCOUNT, secret('get', 'another')],
        [true, WEBHOOK, secret('get', 'git-credentials')],
        [false, WEBHOOK, secret('get', 'another')],
        [false, ACCOUNT, secret('list', '')],
        [true, developer, secret('use', 'git-credentials')],
        [false, developer, secret('use', 'another')],
        [false, developer, secret('get', 'git-credentials')],
        [true, developer, ours('create', 'gitcommits')],
        [true, developer, ours('delete', 'pullrequests')],
        [false, developer, { ...ours('patch', 'gitcommits'), subresource: 'status' }],
        [false, 'ops', ours('get', 'gitcommits')],
      ] as const
      for (const [answer, who, attributes] of expected) {
        const may = () => reviewed(plane, who, { ...attributes, namespace })
        // A right that was just granted is known a moment later; one that was not, never.
        if (answer) await waitFor('right', async () => (await may()) || undefined, DEADLINE)
        else t.notOk(await may(), `${JSON.stringify(who)} ${JSON.stringify(attributes)}`)
      }
    })

    t.test(
      'the overlay for cert-manager is all of it, and asks for the authority by its annotation',
      async (t) => {
        const overlay = await plane.kubectl(['kustomize', new URL('overlays/cert-manager', ROOT).pathname])
        const plain = await plane.kubectl(['kustomize', MANIFESTS])
        const kinds = (text: string): number => text.match(/^kind: /gm)?.length ?? 0
        t.equal(kinds(overlay.stdout), kinds(plain.stdout) + 4)
        const asked = overlay.stdout.match(
          /cert-manager.io\/inject-ca-from: commitlet-system\/commitlet-webhook\n/g,
        )
        t.equal(asked?.length, 2)
        t.match(overlay.stdout, 'kind: ValidatingWebhookConfiguration')
      },
    )

    // Each takes some CPU seconds, most of them in kubectl.
    const drawn = drawnTests(t, 2)
    void drawn('with a component, ConfigMaps are read only where a namespace grants it', async (t) => {
      const [page, heading] = ['docs/install.md', '## ConfigMaps of some namespaces only'] as const
      const [added = ''] = await blocksOf(page, 'yaml', heading)
      const [commands = ''] = await blocksOf(page, 'sh', heading)
      const [, line = ''] = /^components:\n(.+)$/m.exec(added) ?? []
      const [granting = ''] = /^kubectl -n shop [^]*$/m.exec(commands) ?? []
      const [folder, [one, other]] = [
        t.testdir({}),
        await Promise.all([1, 2].map(() => plane.createNamespace())),
      ]
      const root = relative(folder, new URL('.', ROOT).pathname)
      const component = line.replace('../commitlet', root)
      const kustomization = (base: string): string =>
        `resources: [${root}/${base}]\ncomponents:\n${component}\n`
      for (const base of ['overlays/cert-manager', 'manifests']) {
        await writeFile(join(folder, 'kustomization.yaml'), kustomization(base))
        const whole = await plane.kubectl(['kustomize', new URL(base, ROOT).pathname])
        const less = await plane.kubectl(['kustomize', folder])
        t.equal(
          less.stdout,
          whole.stdout.replace(/^ {4}commitlet\.dev\/aggregate-to-reader: .*\n/m, ''),
          base,
        )
        t.not(less.stdout, whole.stdout)
      }
      t.equal((await plane.kubectl(['apply', '-k', folder])).stderr, '')
      await fillAggregatedRoles(plane)
      const bind = granting
        .replaceAll('\\\n', ' ')
        .replace('shop', one ?? '')
        .trim()
        .split(/\s+/)
        .slice(1)
      t.equal((await plane.kubectl(bind)).stderr, '')
      const may = (namespace = ''): Promise<boolean> =>
        reviewed(plane, ACCOUNT, { verb: 'get', group: '', resource: 'configmaps', name: 'a', namespace })
      await waitFor('end of the right', async () => ((await may(other)) ? undefined : true), DEADLINE)
      await waitFor('right', async () => (await may(one)) || undefined, DEADLINE)
      t.notOk(await may(other))
    })

    void drawn('without Knative', (t) => tryWithoutKnative(t, plane))

    void drawn('source-key.sh', (t) => trySourceKey(t, plane))

    t.end()
  },
  { own: true },
)
