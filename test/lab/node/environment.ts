import type { AdminAPI } from '../../harness/admin-api.ts'
import { NODE_IP } from './network.ts'
import type { Container, EnvVar, Pod } from './objects.ts'

/** The environment of a container, as a kubelet makes it. Throws where a Secret or ConfigMap is missing. */
export async function environmentOf(
  api: AdminAPI,
  pod: Pod,
  container: Container,
  address: string,
): Promise<Readonly<Record<string, string>>> {
  const { name, namespace } = pod.metadata
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': name,
    'metadata.namespace': namespace,
    'status.podIP': address,
    'status.hostIP': NODE_IP,
  }
  async function valueOf({ value = '', valueFrom = {} }: EnvVar): Promise<string | undefined> {
    const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom
    if (fieldRef !== undefined) return fields[fieldRef.fieldPath]
    const ref = secretKeyRef ?? configMapKeyRef
    if (ref === undefined) return value
    const kind = secretKeyRef === undefined ? 'configmaps' : 'secrets'
    const data = await dataOf(api, { namespace, kind, ...ref })
    return data?.[ref.key]?.toString()
  }
  const entries = await Promise.all(
    (container.env ?? []).map(async (one) => [one.name, await valueOf(one)] as const),
  )
  return {
    PATH: process.env['PATH'] ?? '',
    HOSTNAME: name,
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    ...Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
  }
}

/** Where data is read from. */
export interface DataPlace {
  readonly namespace: string
  readonly kind: 'secrets' | 'configmaps'
  readonly name: string
  readonly optional?: boolean
}

/** The data of a Secret or ConfigMap; undefined where an optional one is missing. */
export async function dataOf(
  api: AdminAPI,
  { namespace, kind, name, optional = false }: DataPlace,
): Promise<Readonly<Record<string, Buffer>> | undefined> {
  const { status, body } = await api.ask('GET', `/api/v1/namespaces/${namespace}/${kind}/${name}`)
  if (status === 404 && optional) return undefined
  if (status !== 200) throw new Error(`There is no ${kind}/${name} in ${namespace}.`)
  const { data = {} } = body as { readonly data?: Readonly<Record<string, string>> }
  const encoding = kind === 'secrets' ? 'base64' : 'utf8'
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, encoding)]))
}
