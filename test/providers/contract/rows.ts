import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dialect } from '../../harness/hosts/dialect.ts'
import { isRecord } from '../../../functions/domain/json-value.ts'

/** The folder of the stand-ins' dialects, one file per host. */
export const DIALECTS = join(import.meta.dirname, '../../harness/hosts')

/** The dialect of a host, from the file of its name; undefined: there is no such file. */
export async function dialectOf(name: string): Promise<Dialect | undefined> {
  const file = join(DIALECTS, `${name}.ts`)
  if (!existsSync(file)) return undefined
  const exported: unknown = await import(file)
  return Object.values(isRecord(exported) ? exported : {}).find(
    (value): value is Dialect => isRecord(value) && value.name === name,
  )
}
