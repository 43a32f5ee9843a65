import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'

/** Every address of a host, in the order to try them; rejects as node:dns does. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** What Node reports where DNS says that there is no such name, unlike EAI_AGAIN where it does not say anything. */
const NO_SUCH_NAME = 'ENOTFOUND'
/** No domain of the Internet ends so: only a search domain completes it. */
const OF_CLUSTER = '.svc'

type Family = 0 | 4 | 6

/** What look-ups ask. */
export interface Names {
  /** The C library: hosts file, DNS and search domains; addresses of both families (0) or of one. */
  readonly askLibrary: (host: string, family: Family) => Promise<readonly string[]>
  readonly hostsFile: string
}

/**
 * Looks names up with the C library, as Git does. A host with a dot is completed with a search domain only where DNS says
 * that there is no such name. The library itself does that also where DNS fails: whoever has a namespace `dev` would then
 * get the connections to `git.acme.dev` with a Service there.
 */
export function lookUpBy({ askLibrary, hostsFile }: Names): Lookup {
  /** Undefined if DNS says that there is no such name. */
  async function lookUpAsItIs(host: string): Promise<readonly string[] | undefined> {
    // The library says so, too, where one family fails and the other one has no address: then each is asked alone.
    for (const family of [0, 4, 6] as const) {
      // With a dot at its end a name is looked up as it is, and in DNS alone.
      const found = await askLibrary(`${host}.`, family).catch(unlessUnknown)
      if (found !== undefined) return found
    }
    return undefined
  }

  return async function lookUp(host) {
    const isAnybodys = host.includes('.') && !host.endsWith(OF_CLUSTER) && !(await isIn(hostsFile, host))
    const found = isAnybodys ? await lookUpAsItIs(host) : undefined
    return found ?? askLibrary(host, 0)
  }
}

/** Whether a look-up has failed because there is no such name. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === NO_SUCH_NAME
}

function unlessUnknown(error: unknown): undefined {
  if (!isUnknownName(error)) throw error
}

/** `lookUpBy` on this machine; rejects as node:dns does. */
export const systemLookup: Lookup = lookUpBy({
  hostsFile: '/etc/hosts',
  async askLibrary(host, family) {
    const found = await lookup(host, { all: true, family })
    return found.map(({ address }) => address)
  },
})

/** `systemLookup` for connections of node:net. */
export const lookUpAddresses: LookupFunction = (host, _options, answer) => {
  systemLookup(host).then(
    (addresses) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    (error: unknown) => answer(error as NodeJS.ErrnoException, []),
  )
}

async function isIn(hostsFile: string, host: string): Promise<boolean> {
  const text = await readFile(hostsFile, 'utf8').catch(() => '')
  return text.split('\n').some((line) => {
    const [, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return names.includes(host)
  })
}
