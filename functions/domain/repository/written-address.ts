import { Failure } from '../failure.ts'
import { parseRepositoryAddress } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { sshUserOf } from './allowed-repositories.ts'
import { likelyRepository, repositoryOfPage } from './page.ts'

/** Characters of a text in which an address is looked for. */
const READ = 2_048

/**
 * Reads `spec.repository` as `parseRepositoryAddress` does. The InvalidSpec says which address was probably meant, if that
 * can be told; what is before an `@` of an https address, and what follows a `?` or `#`, is never repeated.
 */
export function readWrittenAddress(text: string): RepositoryAddress {
  try {
    return parseRepositoryAddress(text)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const meant = meantAddress(text)
    if (meant === undefined) throw error
    const [found = ''] = error.message.split('; ', 1)
    throw new Failure(error.reason, `${found}; write ${meant} instead.`)
  }
}

/** The valid address that was probably meant by this text, which is none; undefined: it cannot be told. */
export function meantAddress(text: string): string | undefined {
  if (text.length > READ) return undefined
  const written = text.trim()
  const [, scheme, rest = ''] = /^([A-Za-z+]+):\/\/(.*)$/.exec(written) ?? []
  const meant = scheme === undefined ? withoutScheme(written) : withScheme(scheme.toLowerCase(), rest)
  return meant !== undefined && isAddress(meant) ? meant : undefined
}

function isAddress(text: string): boolean {
  try {
    parseRepositoryAddress(text)
    return true
  } catch {
    return false
  }
}

function withScheme(scheme: string, rest: string): string | undefined {
  const [, authority = '', path = ''] = /^([^/?#]*)(.*)$/.exec(rest) ?? []
  if (scheme === 'https' || scheme === 'http' || scheme === 'git')
    return webAddress(scheme === 'http' ? 'http' : 'https', authority.replace(/^.*@/, ''), path)
  if (!['ssh', 'git+ssh', 'ssh+git'].includes(scheme)) return undefined
  const [, given, host = '', after] = /^(?:([^@]*)@)?([^:]*)(?::(.*))?$/.exec(authority) ?? []
  const name = plainHost(host)
  const user = given ?? sshUserOf(name)
  // With a path after the colon, this is the short form of an address behind a scheme.
  if (after !== undefined && !/^\d*$/.test(after)) return `${user}@${name}:${plainPath(`${after}${path}`)}`
  const port = after === undefined || after === '' || after === '22' ? '' : `:${after}`
  return `ssh://${user}@${name}${port}/${plainPath(path)}`
}

function withoutScheme(text: string): string | undefined {
  const [, user, host = '', path = ''] = /^(?:([^@/:]+)@)?([^@/:]+):(.*)$/.exec(text) ?? []
  const name = plainHost(host)
  if (user !== undefined || (name.includes('.') && path.includes('/'))) {
    const login = user ?? sshUserOf(name)
    return path.startsWith('/')
      ? `ssh://${login}@${name}/${plainPath(path)}`
      : `${login}@${name}:${plainPath(path)}`
  }
  const [, place = '', rest = ''] = /^([^@/:]+\.[^@/:.]+)\/(.*)$/.exec(text) ?? []
  return rest === '' ? undefined : webAddress('https', place, rest)
}

function webAddress(scheme: 'https' | 'http', place: string, rest: string): string | undefined {
  const [, host = '', port = ''] = /^(.*?)(?::(\d*))?$/.exec(place) ?? []
  const [path = ''] = rest.split(/[?#]/, 1)
  const name = plainHost(host)
  const plain = plainPath(path)
  const segments = plain.split('/')
  const repository = repositoryOfPage(name, segments) ?? likelyRepository(name, segments)
  const isDefault = port === '' || port === (scheme === 'https' ? '443' : '80')
  return `${scheme}://${name}${isDefault ? '' : `:${port}`}/${repository?.join('/') ?? plain}`
}

function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '')
}

function plainPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')
}
