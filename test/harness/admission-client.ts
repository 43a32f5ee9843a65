import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Authority } from './certificates.ts'

const GROUP_VERSION = 'apiserver.config.k8s.io/v1'

/**
 * Writes what makes the API server show a client certificate to every webhook that asks for one, as docs/install.md
 * describes, and returns the path for `--admission-control-config-file`.
 */
export async function writeAdmissionClient(folder: string, authority: Authority): Promise<string> {
  const { certPEM, keyPEM } = await authority.issue({ names: [], clientName: 'commitlet-api-server' })
  const files = {
    certificate: join(folder, 'admission-client.crt'),
    key: join(folder, 'admission-client.key'),
    kubeconfig: join(folder, 'admission-client.json'),
    configuration: join(folder, 'admission.json'),
  }
  const user = { 'client-certificate': files.certificate, 'client-key': files.key }
  // In a cluster the webhook has a known name; here the port in its name is known only later.
  const kubeconfig = { apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] }
  const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({
    name,
    configuration: {
      apiVersion: GROUP_VERSION,
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile: files.kubeconfig,
    },
  }))
  const configuration = { apiVersion: GROUP_VERSION, kind: 'AdmissionConfiguration', plugins }
  await writeFile(files.certificate, certPEM)
  await writeFile(files.key, keyPEM, { mode: 0o600 })
  await writeFile(files.kubeconfig, JSON.stringify(kubeconfig))
  await writeFile(files.configuration, JSON.stringify(configuration))
  return files.configuration
}
