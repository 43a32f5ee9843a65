import { readFile } from 'node:fs/promises'

/** PEM texts by which the admin logs in. */
export interface Login {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }]
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }]
}

/** Reads a kubeconfig of the test's control plane, which is JSON. */
export async function readLogin(file: string): Promise<Login> {
  const { clusters, users } = JSON.parse(await readFile(file, 'utf8')) as Kubeconfig
  const decoded = (text = ''): string => Buffer.from(text, 'base64').toString()
  return {
    ca: decoded(clusters[0].cluster['certificate-authority-data']),
    cert: decoded(users[0].user['client-certificate-data']),
    key: decoded(users[0].user['client-key-data']),
  }
}
