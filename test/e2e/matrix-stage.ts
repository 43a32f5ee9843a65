import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import type { Installation, Stored, Team } from '../harness/installation.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { SSHServer, SSHServerOptions } from '../harness/ssh-server.ts'
import type { MatrixCase, MatrixSecret } from './matrix-endings.ts'
import { fill } from './matrix-fill.ts'
import type { MatrixKeys, Values } from './matrix-values.ts'
import { DEFAULT_TOKEN, fingerprint, USERS, valuesFor } from './matrix-values.ts'

/** The servers of the matrix, and a team whose Secrets the function may read. */
export interface MatrixStage {
  readonly commitlet: Installation
  readonly team: Team
  readonly values: Values
  /** Folder for the function's temporary files. */
  readonly folder: string
  /** The Secrets of a case, and its GitCommit, which has the number in its name. */
  objectsOf(
    one: MatrixCase,
    index: number,
  ): { readonly secrets: readonly object[]; readonly resource: object }
  /** The message that the case promises. */
  messageOf(one: MatrixCase, index: number, stored?: Stored): string
}

/** The SSH server, with the keys that it was started for, and how many cases there are. */
export interface MatrixRemote {
  readonly ssh: SSHServer
  readonly keys: MatrixKeys
  readonly count: number
}

/** Installs everything, with logs at trace level. */
export async function stageMatrix(
  t: Test,
  plane: ControlPlane,
  { count, ssh, keys }: MatrixRemote,
): Promise<MatrixStage> {
  const folder = t.testdir({})
  const server = await startGitServer({ users: USERS })
  t.teardown(() => server.close())
  const commitlet = await install(t, plane, {
    functionEnv: {
      TMPDIR: folder,
      LOG_LEVEL: 'trace',
      // Many cases of one namespace are refused.
      FAILED_LOGINS: '1000',
      CA_FILE: server.caFile,
      DEFAULT_GIT_TOKEN: DEFAULT_TOKEN,
      DEFAULT_GIT_REPOSITORIES: `localhost:${server.port}/{namespace}`,
    },
    webhookEnv: { LOG_LEVEL: 'trace', SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })
  const names = Array.from({ length: count }, (_, index) => [`c${index}`, `c${index}-fallback`])
  const team = await commitlet.createTeam({ secrets: names.flat() })
  await team.apply(configMap())
  const { namespace } = team
  const remotes = {
    https: await server.createRepository(`${namespace}/config`),
    ssh: await ssh.createRepository(`${namespace}/config`),
  }
  const values = valuesFor(ssh, keys)

  function addressOf({ address, absent = false }: MatrixCase): string {
    return absent ? remotes[address].url.replace('/config', '/nothing') : remotes[address].url
  }

  function secretOf(name: string, given: MatrixSecret | undefined): readonly object[] {
    if (given === undefined) return []
    const entries = Object.entries(given.keys).map(([key, value]) => [key, values[value]])
    const type = given.type ?? 'Opaque'
    const metadata = { name }
    return [{ apiVersion: 'v1', kind: 'Secret', metadata, type, stringData: Object.fromEntries(entries) }]
  }

  return {
    commitlet,
    team,
    values,
    folder,
    objectsOf(one, index) {
      const name = `c${index}`
      const credentials = one.keys === undefined ? undefined : { secretName: name, ...one.keys }
      const second = { secretName: `${name}-fallback`, ...one.keys }
      const path = `${name}.yaml`
      const resource = gitCommit(name, addressOf(one), {
        credentials,
        ...(one.fallback === undefined ? {} : { fallbackCredentials: second }),
        resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path },
      })
      return {
        secrets: [...secretOf(name, one.secret), ...secretOf(`${name}-fallback`, one.fallback)],
        resource,
      }
    },
    messageOf(one, index, stored) {
      const commit = (stored?.status['commit'] ?? {}) as { readonly shortSHA?: string }
      const words: Readonly<Record<string, string>> = {
        URL: addressOf(one),
        SECRET: `${namespace}/c${index}`,
        FALLBACK: `${namespace}/c${index}-fallback`,
        SHA: commit.shortSHA ?? '',
        PATH: `c${index}.yaml`,
        USER: ssh.user,
        HOST: `[127.0.0.1]:${ssh.port}`,
        HOSTNAME: '127.0.0.1',
        PORT: String(ssh.port),
        KEY: fingerprint((one.state.startsWith('expired') ? keys.revoked : keys.other).publicKey),
        HOSTKEY: fingerprint(ssh.hostKeys[0] ?? ''),
        YESTERDAY: fingerprint(keys.yesterday.publicKey),
      }
      return fill(one.says, words)
    },
  }
}

/** For startSSHServer: it knows the revoked key, and does not accept it any more. */
export function serverOptions(t: Pick<Test, 'teardown'>, { revoked }: MatrixKeys): SSHServerOptions {
  const folder = mkdtempSync(join(tmpdir(), 'commitlet-revoked-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'revoked')
  writeFileSync(file, revoked.publicKey)
  return { keys: [revoked.publicKey], config: [`RevokedKeys ${file}`] }
}
