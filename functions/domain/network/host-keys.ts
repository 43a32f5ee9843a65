import type { RepositoryAddress } from '../repository/address.ts'
import { Failure } from '../failure.ts'
import { fingerprintOf, knownName, readKnownHosts, typeOf, writeKnownHosts } from './known-hosts.ts'
import type { HostKey } from './known-hosts.ts'

/** Texts in the form of known_hosts, as far as there are any. */
export interface HostKeySources {
  /** Of the Secret in use. */
  readonly secret?: string | undefined
  /** Of the file that SSH_KNOWN_HOSTS names. */
  readonly operator?: string | undefined
}

/** Where a key is looked for. */
type Place = Pick<RepositoryAddress, 'host' | 'port'>

const SHOWN = 3

/**
 * The lines of known_hosts that hold for the address: the Secret's where it has any, else the operator's, else the
 * published keys of the public hosts. What any of them marks as revoked stays revoked.
 * @throws Failure HostKeyUnknown where there is no line: nothing is trusted because it came first
 */
export function hostKeysFor(address: Place, { secret = '', operator = '' }: HostKeySources): string {
  const found = [secret, operator, PUBLISHED].map((text) => readKnownHosts(text, address))
  const known = found.find((candidate) => candidate.known.length > 0)?.known
  if (known === undefined) {
    throw unknown(
      `No known_hosts entry says which host key ${knownName(address.host, address.port)} has`,
      address,
    )
  }
  return writeKnownHosts({ known, revoked: found.flatMap(({ revoked }) => revoked) }, address)
}

/**
 * Looks at the key that the host shows (as it is sent, RFC 4253, section 6.6). Undefined: it is one of `hostKeys`.
 * Else HostKeyMismatch where it is revoked or another key of its type is known, HostKeyUnknown where none is.
 */
export function judgeHostKey(
  shown: Buffer,
  address: RepositoryAddress,
  hostKeys: string,
): Failure | undefined {
  const { known, revoked } = readKnownHosts(hostKeys, address)
  const type = typeOf(shown) ?? 'an unknown type'
  const shows = `${address.text} shows the host key ${fingerprintOf(shown)} (${type})`
  if (holds(revoked, shown)) {
    const message = `${shows}, which is marked as revoked; do not use it, and ask whoever runs the host for its present key.`
    return new Failure('HostKeyMismatch', message)
  }
  if (holds(known, shown)) return undefined
  const pinned = known.filter((key) => key.type === type).map(({ bytes }) => fingerprintOf(bytes))
  if (pinned.length === 0) return unknown(`${shows}, and known_hosts has no key of that type for it`, address)
  const message = `${shows}, but known_hosts has ${pinned.slice(0, SHOWN).join(', ')} for it; somebody may be in between, or the host has a new key: compare it with what the host publishes before you change the entry.`
  return new Failure('HostKeyMismatch', message)
}

function holds(keys: readonly HostKey[], shown: Buffer): boolean {
  return keys.some(({ bytes }) => bytes.equals(shown))
}

function unknown(found: string, { host, port }: Place): Failure {
  return new Failure(
    'HostKeyUnknown',
    `${found}; run \`ssh-keyscan -p ${port} ${host}\`, compare the fingerprint with what the host publishes, and put the line into the Secret (spec.credentials.knownHostsKey) or have the operator put it into the file of SSH_KNOWN_HOSTS.`,
  )
}

/**
 * Keys as the hosts publish them: GitHub's documentation and api.github.com/meta, GitLab's documentation of
 * gitlab.com, bitbucket.org/site/ssh. The names with port 443 are the same services for networks that close port 22.
 */
const PUBLISHED = `
github.com,[ssh.github.com]:443,ssh.github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl
github.com,[ssh.github.com]:443,ssh.github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=
github.com,[ssh.github.com]:443,ssh.github.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshcLrqPEiiphnt+VTTvDP6mHBL9j1aNUkY4Ue1gvwnGLVlOhGeYrnZaMgRK6+PKCUXaDbC7qtbW8gIkhL7aGCsOr/C56SJMy/BCZfxd1nWzAOxSDPgVsmerOBYfNqltV9/hWCqBywINIR+5dIg6JTJ72pcEpEjcYgXkE2YEFXV1JHnsKgbLWNlhScqb2UmyRkQyytRLtL+38TGxkxCflmO+5Z8CSSNY7GidjMIZ7Q4zMjA2n1nGrlTDkzwDCsw+wqFPGQA179cnfGWOWRVruj16z6XyvxvjJwbz0wQZ75XK5tKSb7FNyeIEs4TT4jk+S4dhPeAUC5y+bDYirYgM4GC7uEnztnZyaVWQ7B381AK4Qdrwt51ZqExKbQpTUNn+EjqoTwvqNj4kqx5QUCI0ThS/YkOxJCXmPUWZbhjpCg56i+2aB6CmK2JGhn57K5mj0MNdBXA4/WnwH6XoPWJzK5Nyu2zB3nAZp+S5hpQs+p1vN1/wsjk=
gitlab.com,[altssh.gitlab.com]:443,altssh.gitlab.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf
gitlab.com,[altssh.gitlab.com]:443,altssh.gitlab.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=
gitlab.com,[altssh.gitlab.com]:443,altssh.gitlab.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCsj2bNKTBSpIYDEGk9KxsGh3mySTRgMtXL583qmBpzeQ+jqCMRgBqB98u3z++J1sKlXHWfM9dyhSevkMwSbhoR8XIq/U0tCNyokEi/ueaBMCvbcTHhO7FcwzY92WK4Yt0aGROY5qX2UKSeOvuP4D6TPqKF1onrSzH9bx9XUf2lEdWT/ia1NEKjunUqu1xOB/StKDHMoX4/OKyIzuS0q/T1zOATthvasJFoPrAjkohTyaDUz2LN5JoH839hViyEG82yB+MjcFV5MU3N1l1QL3cVUCh93xSaua1N85qivl+siMkPGbO5xR/En4iEY6K2XPASUEMaieWVNTRCtJ4S8H+9
bitbucket.org,ssh.bitbucket.org,[altssh.bitbucket.org]:443,altssh.bitbucket.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO
bitbucket.org,ssh.bitbucket.org,[altssh.bitbucket.org]:443,altssh.bitbucket.org ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=
bitbucket.org,ssh.bitbucket.org,[altssh.bitbucket.org]:443,altssh.bitbucket.org ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDQeJzhupRu0u0cdegZIa8e86EG2qOCsIsD1Xw0xSeiPDlCr7kq97NLmMbpKTX6Esc30NuoqEEHCuc7yWtwp8dI76EEEB1VqY9QJq6vk+aySyboD5QF61I/1WeTwu+deCbgKMGbUijeXhtfbxSxm6JwGrXrhBdofTsbKRUsrN1WoNgUa8uqN1Vx6WAJw1JHPhglEGGHea6QICwJOAr/6mrui/oB7pkaWKHj3z7d1IC4KWLtY47elvjbaTlkN04Kc/5LFEirorGYVbt15kAUlqGM65pk6ZBxtaO3+30LVlORZkxOh+LKL/BvbZ/iRNhItLqNyieoQj/uh/7Iv4uyH/cV/0b4WDSd3DptigWq84lJubb9t/DnZlrJazxyDCulTmKdOR7vs9gMTo+uoIrPSb8ScTtvw65+odKAlBj59dhnVp9zd7QUojOpXlL62Aw56U4oO+FALuevvMjiWeavKhJqlR7i5n9srYcrNV7ttmDw7kf/97P5zauIhxcjX+xHv4M=
`
