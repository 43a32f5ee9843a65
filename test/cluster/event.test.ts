import t from 'tap'
import { eventCall } from '../../functions/cluster/event.ts'
import type { ClusterEvent } from '../../functions/cluster/cluster.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { openAs } from './stage.ts'

const AT = new Date('2030-01-02T03:04:05.678Z')
const NOTICE: ClusterEvent = { type: 'Warning', reason: 'PathConflict', message: 'The path is a folder.' }

withControlPlane(t, async (t, plane) => {
  const server = openAs(plane.kubeconfig)
  const namespace = await plane.createNamespace()

  async function eventsOf(name: string): Promise<Record<string, unknown>[]> {
    const selector = `--field-selector=involvedObject.name=${name}`
    const { stdout } = await plane.kubectl(['get', 'events', '-n', namespace, selector, '-o', 'json'])
    return (JSON.parse(stdout) as { items: Record<string, unknown>[] }).items
  }

  t.test('an Event refers to the resource', async (t) => {
    await server(eventCall(resourceOf('told', namespace), NOTICE, AT))
    t.match(await eventsOf('told'), [
      {
        type: 'Warning',
        reason: 'PathConflict',
        message: 'The path is a folder.',
        eventTime: '2030-01-02T03:04:05.678000Z',
        reportingComponent: 'commitlet.dev/function',
        involvedObject: {
          apiVersion: 'commitlet.dev/v1',
          kind: 'GitCommit',
          name: 'told',
          namespace,
          uid: 'uid-1',
        },
      },
    ])
  })

  t.test(
    'the same write again is the same Event; another attempt, reason or request is another',
    async (t) => {
      const first = resourceOf('again', namespace)
      const others: readonly (readonly [Envelope, ClusterEvent])[] = [
        [first, NOTICE],
        [first, NOTICE],
        [resourceOf('again', namespace, { attempts: 2 }), NOTICE],
        [resourceOf('again', namespace, { lastHandledRequestedAt: 'now' }), NOTICE],
        [first, { ...NOTICE, reason: 'Conflict' }],
        [{ kind: first.kind, metadata: first.metadata }, NOTICE],
      ]
      for (const [resource, event] of others) await server(eventCall(resource, event, AT))
      t.equal((await eventsOf('again')).length, 5)
    },
  )

  t.test('long names and long messages of any alphabet fit', async (t) => {
    const names = [
      'n'.repeat(253),
      `${'n'.repeat(199)}-${'m'.repeat(50)}`,
      `${'n'.repeat(198)}.-a${'m'.repeat(50)}`,
    ]
    const messages = ['x'.repeat(5_000), 'ü'.repeat(5_000), '😀'.repeat(5_000)]
    for (const [index, name] of names.entries()) {
      const message = messages[index] ?? ''
      await server(eventCall(resourceOf(name, namespace), { ...NOTICE, message }, AT))
      const [event] = await eventsOf(name)
      const note = String(event?.['message'])
      t.ok(Buffer.byteLength(note) > 1_000, `${Buffer.byteLength(note)} bytes`)
      t.ok(message.startsWith(note.replace(/…$/, '')), 'cut between characters')
    }
  })
})

function resourceOf(name: string, namespace: string, status: object = {}): Envelope {
  return {
    kind: 'GitCommit',
    metadata: { name, namespace, uid: 'uid-1', generation: 1, resourceVersion: '7' },
    status: { observedGeneration: 1, phase: 'Failed', attempts: 1, ...status },
  }
}
