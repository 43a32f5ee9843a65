import { generateKeyPairSync } from 'node:crypto'
import { memoryApps, publicHalf } from '../harness/hosts/github-app.ts'
import type { ModelInstallation } from '../harness/hosts/github-app.ts'
import { github } from '../harness/hosts/github.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Installation } from '../harness/installation.ts'
import { hostRepository } from './pull-request-stage.ts'

/** `spec.credentials` of the App in the Secret `app`. */
export const credentials = { secretName: 'app', appIDKey: 'app-id', privateKeyKey: 'private-key' }
export const APP_ID = '4711'

/** The Secret `app`. */
export function secretOf(stringData: Readonly<Record<string, string>>, annotations = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'app', annotations },
    stringData,
  }
}

/** A team whose Secret `app` holds an App that is installed at its repository, on a host of its own. */
export async function stage(commitlet: Installation) {
  const team = await commitlet.createTeam({ secrets: ['git', 'app'] })
  const apps = memoryApps()
  const generated = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const privateKey = generated.export({ type: 'pkcs1', format: 'pem' }).toString()
  apps.keys.set(APP_ID, publicHalf(privateKey))
  const installation: ModelInstallation = {
    ...{ id: 81, appID: APP_ID, account: 'acme', repositories: ['shop'], suspended: false },
    permissions: { contents: 'write', pull_requests: 'write' },
  }
  apps.installations.push(installation)
  const prefix = `/${team.namespace}`
  const hosted = await hostRepository(commitlet.git, { dialect: github, path: 'acme/shop', prefix }, { apps })
  const { repository, model, api } = hosted
  const place = { provider: 'github', providerConfig: { baseURL: `${commitlet.git.url}${prefix}/api/v3` } }
  await team.apply(configMap(), secretOf({ 'app-id': APP_ID, 'private-key': privateKey }))
  const commit = (name: string, spec = {}): object =>
    gitCommit(name, repository.url, { branch: 'main', credentials, ...place, ...spec })
  return { team, apps, installation, privateKey, hosted, repository, model, api, commit }
}
