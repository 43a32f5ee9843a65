import type { ApiAnswer, ApiCall } from '../../../functions/cluster/api-server.ts'
import { elements, member, textMember } from '../../../functions/domain/json-value.ts'

const CORE = { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] }
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { namespace: 'team', name: 'git' },
  data: { token: Buffer.from('s3cr3t-token').toString('base64') },
}

/** The answer to a call whose answer never changes here: rights, kinds, the Secret, Events. Undefined for all others. */
export function constantAnswer({ method, path }: ApiCall): ApiAnswer | undefined {
  if (path.endsWith('/subjectaccessreviews')) return answer(201, { status: { allowed: true } })
  if (path.includes('/secrets/')) return answer(200, SECRET)
  if (path === '/api/v1') return answer(200, CORE)
  if (method === 'POST') return answer(201, {})
  return undefined
}

/** A list as a Table, of the one resource that there is, as functions/cluster/list.ts reads it. */
export function listAnswer(path: string, resource: unknown): ApiAnswer {
  const selector = new URL(path, 'https://api').searchParams.get('fieldSelector') ?? ''
  const status = member(resource, 'status')
  const phase = textMember(status, 'phase')
  const isSelected = selector.split(',').every((term) => {
    const [, operator = '', value] = /^status\.phase(!?=)(.+)$/.exec(term) ?? []
    return operator === '' || (phase === value) === (operator === '=')
  })
  const isListed = path.includes('/gitcommits?') && isSelected
  const metadata = member(resource, 'metadata')
  const ready = elements(member(status, 'conditions')).find((one) => textMember(one, 'type') === 'Ready')
  const cells = [
    member(status, 'observedGeneration'),
    member(status, 'lastHandledRequestedAt') ?? '',
    member(status, 'nextAttemptTime') ?? '',
    textMember(ready, 'reason') ?? '',
  ]
  return answer(200, {
    columnDefinitions: ['Observed', 'Handled', 'Next attempt', 'Reason'].map((name) => ({ name })),
    rows: isListed ? [{ cells, object: { metadata } }] : [],
    metadata: {},
  })
}

function answer(status: number, body: unknown): ApiAnswer {
  return { status, text: JSON.stringify(body) }
}
