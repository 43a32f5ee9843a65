import { generateKeyPairSync } from 'node:crypto'
import type { Test } from 'tap'
import { readApp } from '../../../functions/domain/credentials/app.ts'
import type { App } from '../../../functions/domain/credentials/app.ts'
import { PERMISSIONS } from '../../../functions/domain/credentials/app-login.ts'
import type { IssuedToken } from '../../../functions/domain/credentials/app-login.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Kind } from '../../../functions/domain/resource/api-names.ts'
import { openHTTP } from '../../../functions/http/http.ts'
import { askForToken } from '../../../functions/providers/github/installation-token.ts'
import { github } from '../../harness/hosts/github.ts'
import { memoryApps, publicHalf } from '../../harness/hosts/github-app.ts'
import type { ModelApps, ModelInstallation } from '../../harness/hosts/github-app.ts'
import { startHost } from '../../harness/hosts/host-server.ts'
import type { HostServer } from '../../harness/hosts/host-server.ts'
import { memoryModel } from '../../harness/hosts/model.ts'
import type { HostModel } from '../../harness/hosts/model.ts'
import { settingsWith } from '../port-stage.ts'
import { atOnce } from '../../../functions/http/share.ts'

/** A private key as GitHub generates it. */
export function makeAppKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
}

/** As in a Secret team/app; `installation` as in its key. */
export function appOf(privateKey: string, id: string, installation?: string): App {
  const app = readApp({ id, installation, privateKey: Buffer.from(privateKey) })
  if (!('id' in app)) throw new Error(app.join(' '))
  const places = { id: 'appIDKey', installation: 'installationIDKey', privateKey: 'privateKeyKey' }
  return {
    ...app,
    source: ['team', 'app'],
    places,
    shown: 'The GitHub App of the Secret team/app',
    secrets: [],
  }
}

/** GitHub with acme/shop and an App 4711, which is installed there. */
export interface AppStage {
  readonly host: HostServer
  readonly model: HostModel
  readonly apps: ModelApps
  readonly installation: ModelInstallation
  readonly privateKey: string
  /** Asks for a token for acme/shop. `now`: the clock of Commitlet. */
  readonly ask: (app?: App, kind?: Kind, now?: Date) => Promise<IssuedToken>
  /** The Failure that asking ends with. */
  readonly failure: (app?: App, kind?: Kind, now?: Date) => Promise<Failure>
}

export const APP_ID = '4711'

/** Starts the stand-in, which ends with the test; a request that the host's operations do not allow fails it. */
export async function startAppHost(t: Test): Promise<AppStage> {
  const apps = memoryApps()
  const model: HostModel = { ...memoryModel(), apps }
  const host = await startHost(t, github, model)
  const privateKey = makeAppKey()
  apps.keys.set(APP_ID, publicHalf(privateKey))
  const installation: ModelInstallation = {
    id: 81,
    appID: APP_ID,
    account: 'acme',
    repositories: ['shop', 'other'],
    permissions: { contents: 'write', pull_requests: 'write', issues: 'write' },
    suspended: false,
  }
  apps.installations.push(installation)
  const withAPI = openHTTP(settingsWith(host.caFile))
  const { signal } = new AbortController()
  const ask: AppStage['ask'] = (app = appOf(privateKey, APP_ID), kind = 'GitCommit', now = new Date()) =>
    withAPI(host.baseURL, signal, (fetch) => {
      const shown = `${host.origin}/acme/shop.git`
      const place = { baseURL: host.baseURL, repository: ['acme', 'shop'], shown, fetch, share: atOnce, now }
      return askForToken({ ...place, permissions: PERMISSIONS[kind] }, app)
    }).finally(() => t.strictSame(host.violations, [], "the host's operations allow every request"))
  return {
    ...{ host, model, apps, installation, privateKey, ask },
    async failure(...of) {
      const ended = await ask(...of).catch((error: unknown) => error)
      if (ended instanceof Failure) return ended
      throw new Error('It does not end with a Failure.', { cause: ended })
    },
  }
}
