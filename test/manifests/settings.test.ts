import t from 'tap'
import { readConfig as readFunctionConfig } from '../../functions/config.ts'
import { readGateSettings } from '../../functions/domain/gate/settings.ts'
import { readConfig as readWebhookConfig } from '../../webhook/config.ts'
import { asked, readManifest } from './read.ts'

/**
 * Set by the platform, or by the manifest: ports, where keys and tokens are, and where the operator's tokens go. As a path
 * the ConfigMap could name the token of the function's own account.
 */
const KEPT =
  /^(K_|KUBERNETES_|DEFAULT_GIT(?:HUB_APP)?_|DEFAULT_SIGNING_KEY_|TLS_|STAMP_|OTEL_)|^(PORT|METRICS_PORT|TMPDIR|CLIENT_CA_FILE)$/

const [service] = await readManifest('knative.yaml')
const [, , deployment] = await readManifest('manifests/webhook.yaml')
const parts = [
  ['webhook', deployment, asked(readWebhookConfig)],
  ['function', service, asked(readFunctionConfig)],
] as const

interface Variable {
  readonly name: string
  readonly valueFrom?: unknown
}

/** Names of the variables that the ConfigMap gives. */
function settingsOf(manifest: (typeof parts)[number][1]): readonly string[] {
  const [{ env }] = manifest.spec.template.spec.containers
  return env.filter(({ valueFrom }: Variable) => valueFrom !== undefined).map(({ name }: Variable) => name)
}

t.test('the ConfigMap of the settings gives the variables that are named, and no code', async (t) => {
  for (const [part, manifest] of parts) {
    const [container, ...others] = manifest.spec.template.spec.containers
    t.strictSame(others, [], part)
    t.notOk('envFrom' in container, 'or a user who may write it could set NODE_OPTIONS')
    for (const { name, valueFrom } of container.env.filter(({ valueFrom }: Variable) => valueFrom)) {
      t.strictSame(valueFrom, { configMapKeyRef: { name: 'commitlet-settings', key: name, optional: true } })
    }
  }
})

for (const [part, manifest, known] of parts) {
  t.test(
    `the ${part} reads all of them, and can be given all but what is not for the ConfigMap`,
    async (t) => {
      t.strictSame(
        settingsOf(manifest),
        [...known].filter((name) => name === name.toUpperCase() && !KEPT.test(name)).sort(),
      )
    },
  )
}

t.test('both parts can get the settings that have to be the same', async (t) => {
  const alike = [...asked((env) => readGateSettings(env, () => Buffer.alloc(48)))]
  for (const name of alike.filter((name) => !KEPT.test(name)))
    for (const [part, manifest] of parts) t.ok(settingsOf(manifest).includes(name), `${part}: ${name}`)
})
