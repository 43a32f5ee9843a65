import { elements, isRecord, member, textMember } from '../../domain/json-value.ts'
import type { ApiServer } from '../api-server.ts'
import { readStored, replaceStored } from './stored-object.ts'
import type { StoredObject } from './stored-object.ts'

/** One of the webhook configurations as it was read. */
export interface TrustingConfiguration {
  /** PEM text of the authorities that each of its webhooks trusts; empty: none. */
  readonly bundles: readonly string[]
  readonly object: StoredObject
  readonly plural: string
}

/** Whom the API server trusts to be the webhook. Both calls throw a Failure as SecretStore does. */
export interface WebhookTrust {
  /** Both configurations; those that are not there are left out. */
  readonly read: () => Promise<readonly TrustingConfiguration[]>
  /** Sets the bundle of each webhook. False if another writer was first. */
  readonly write: (bundle: string, over: TrustingConfiguration) => Promise<boolean>
}

const PLURALS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const

/** The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration of this name. */
export function webhookTrustAt(server: ApiServer, name: string): WebhookTrust {
  const placeOf = (plural: string): { readonly path: string; readonly what: string } => ({
    path: `/apis/admissionregistration.k8s.io/v1/${plural}/${encodeURIComponent(name)}`,
    what: `${plural}/${name}`,
  })

  async function readOne(plural: string): Promise<readonly TrustingConfiguration[]> {
    const object = await readStored(server, placeOf(plural))
    if (object === undefined) return []
    const bundles = elements(member(object, 'webhooks')).map((webhook) =>
      Buffer.from(textMember(member(webhook, 'clientConfig'), 'caBundle') ?? '', 'base64').toString(),
    )
    return [{ bundles, object, plural }]
  }

  return {
    read: async () => (await Promise.all(PLURALS.map(readOne))).flat(),
    async write(bundle, { object, plural }) {
      const caBundle = Buffer.from(bundle).toString('base64')
      const webhooks = elements(member(object, 'webhooks')).map((webhook) => {
        const { clientConfig, ...rest } = isRecord(webhook) ? webhook : {}
        return { ...rest, clientConfig: { ...(isRecord(clientConfig) ? clientConfig : {}), caBundle } }
      })
      return (await replaceStored(server, placeOf(plural), { ...object, webhooks })) !== undefined
    },
  }
}
