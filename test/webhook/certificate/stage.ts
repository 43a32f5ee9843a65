import type { SecretStore, StoredTexts } from '../../../functions/cluster/serving/secret-store.ts'
import type { TrustingConfiguration, WebhookTrust } from '../../../functions/cluster/serving/webhook-trust.ts'

/** What replicas share: a Secret and two webhook configurations, with versions as the API server has them. */
export interface SharedCluster {
  readonly secret: SecretStore
  readonly trust: WebhookTrust
  /** The texts of the Secret as they are stored. */
  texts(): Readonly<Record<string, string>> | undefined
  /** The bundle of each configuration. */
  bundles: string[]
  /** What happens once between the next read of the Secret and its write. */
  meanwhile?: (() => Promise<unknown>) | undefined
}

export function sharedCluster(bundles: readonly string[] = ['', '']): SharedCluster {
  let stored: StoredTexts | undefined
  let version = 0
  const versions = bundles.map(() => 0)
  const shared: SharedCluster = {
    bundles: [...bundles],
    texts: () => stored?.texts,
    secret: {
      async read() {
        const read = stored
        const { meanwhile } = shared
        shared.meanwhile = undefined
        await meanwhile?.()
        return read
      },
      async write(texts, over) {
        if (over?.object !== stored?.object) return undefined
        stored = { texts, object: { version: ++version } }
        return stored
      },
    },
    trust: {
      async read() {
        return shared.bundles.map((bundle, index): TrustingConfiguration => ({
          bundles: [bundle],
          object: { version: versions[index] },
          plural: String(index),
        }))
      },
      async write(bundle, { object, plural }) {
        const index = Number(plural)
        if (object['version'] !== versions[index]) return false
        versions[index] = (versions[index] ?? 0) + 1
        shared.bundles[index] = bundle
        return true
      },
    },
  }
  return shared
}
