import { readFile } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'

/** The project's folder. */
export const ROOT = new URL('../../', import.meta.url)

/** The documents of a YAML file, named from the project's folder. */
export async function readManifest(path: string) {
  return parseAllDocuments(await readFile(new URL(path, ROOT), 'utf8')).map((document) => document.toJS())
}

/** The names of the environment variables that a program reads for its configuration. */
export function asked(
  readConfig: (env: Readonly<Record<string, string | undefined>>) => unknown,
): Set<string> {
  const names = new Set<string>()
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_target, name) {
        names.add(String(name))
        return undefined
      },
    },
  )
  readConfig(env)
  return names
}
