import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments, stringify, type Document } from 'yaml'
import { APPLIED_TYPES } from '../../functions/domain/event/applied-event.ts'
import { SINK_LIMITS } from '../../webhook/delivery/sink-limits.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { dryRun, hasKnative } from '../harness/knative-definitions.ts'
import { ROOT } from './read.ts'

const PROJECT = new URL('.', ROOT).pathname
const COMPONENTS = readdirSync(join(PROJECT, 'manifests/scale')).sort()
const UTILIZATION = 0.7
/** The objects that a component adds or changes. The rest of the installation has its own tests. */
const CHANGED =
  /^(Broker|Trigger) |^Service commitlet-function$|^Deployment commitlet-webhook$|^ConfigMap commitlet-broker$/

type Objects = ReadonlyMap<string, ReturnType<Document['toJS']>>

/** The objects of an installation with these components, by kind and name. */
async function built(t: Test, plane: ControlPlane, components: readonly string[]): Promise<Objects> {
  const folder = t.testdir({ 'knative.yaml': readFileSync(join(PROJECT, 'knative.yaml'), 'utf8') })
  const root = relative(folder, PROJECT)
  const kustomization = {
    resources: [`${root}/manifests`, 'knative.yaml'],
    components: components.map((name) => `${root}/manifests/scale/${name}`),
  }
  await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization))
  const { stdout } = await plane.kubectl(['kustomize', folder])
  const objects = parseAllDocuments(stdout).map((document) => document.toJS())
  return new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]))
}

function sinkOf(objects: Objects): URL {
  const [container] = objects.get('Deployment commitlet-webhook').spec.template.spec.containers
  return new URL(container.env.find(({ name }: { name: string }) => name === 'K_SINK').value)
}

function annotation(objects: Objects, name: string): number {
  const { annotations } = objects.get('Service commitlet-function').spec.template.metadata
  return Number(annotations[`autoscaling.knative.dev/${name}`])
}

withControlPlane(t, async (t, plane) => {
  t.test('a component builds by itself and with the others, and changes only what it is for', async (t) => {
    const plain = await built(t, plane, [])
    for (const name of COMPONENTS) {
      await plane.kubectl(['kustomize', join(PROJECT, 'manifests/scale', name)])
      // It changes what another one adds.
      const components = name === 'kafka-unordered' ? ['kafka-broker', name] : [name]
      const objects = await built(t, plane, components)
      const changed = [...objects].filter(([key, object]) => stringify(plain.get(key)) !== stringify(object))
      t.not(changed.length, 0, name)
      for (const [key] of changed) t.match(key, CHANGED, name)
      t.strictSame(
        [...plain.keys()].filter((key) => !objects.has(key)),
        [],
      )
    }
  })

  t.test('with Kafka, events go to the Broker, and all of them from there to the function', async (t) => {
    const objects = await built(t, plane, ['kafka-broker'])
    const [broker, trigger] = [objects.get('Broker commitlet'), objects.get('Trigger commitlet-function')]
    t.equal(sinkOf(objects).pathname, `/${broker.metadata.namespace}/${broker.metadata.name}`)
    t.equal(broker.metadata.annotations['eventing.knative.dev/broker.class'], 'Kafka')
    const { name, namespace } = broker.spec.config
    t.equal(objects.get(`ConfigMap ${name}`).metadata.namespace, namespace)
    t.equal(trigger.spec.broker, broker.metadata.name)
    t.equal(trigger.metadata.namespace, broker.metadata.namespace)
    for (const type of Object.values(APPLIED_TYPES))
      t.ok(type.startsWith(trigger.spec.filters[0].prefix.type))
    const { apiVersion, kind, metadata } = objects.get('Service commitlet-function')
    const subscriber = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    t.strictSame(trigger.spec.subscriber, { ref: subscriber })
    const order = 'kafka.eventing.knative.dev/delivery.order'
    t.equal(trigger.metadata.annotations[order], 'ordered')
    const both = await built(t, plane, ['kafka-broker', 'kafka-unordered'])
    t.equal(both.get('Trigger commitlet-function').metadata.annotations[order], 'unordered')
  })

  t.test('with more pods and replicas, a burst of one namespace still stays in one pod', async (t) => {
    const objects = await built(t, plane, ['more-pods'])
    const { replicas } = objects.get('Deployment commitlet-webhook').spec
    const perPod = annotation(objects, 'target') * UTILIZATION
    t.ok(replicas > 2 && replicas * SINK_LIMITS.perNamespace < perPod)
    t.ok((replicas * SINK_LIMITS.inFlight) / perPod <= annotation(objects, 'max-scale'))
    t.equal(annotation(await built(t, plane, ['always-on']), 'min-scale'), 1)
  })

  t.test('an API server with the kinds of Knative accepts all of it, strictly', async (t) => {
    if (!(await hasKnative(t, plane))) return
    const objects = await built(t, plane, COMPONENTS)
    const changed = [...objects].filter(([key]) => CHANGED.test(key)).map(([, object]) => stringify(object))
    t.equal(changed.length, 5)
    t.match(await dryRun(plane, changed.join('---\n')), { code: 0, stderr: '' })
    const misspelt = changed.join('---\n').replace('containerConcurrency', 'concurrency')
    t.match(await dryRun(plane, misspelt), {
      code: 1,
      stderr: /unknown field "spec.template.spec.concurrency"/,
    })
  })
})
