import type { RepositoryAddress } from '../repository/address.ts'
import type { Credentials } from '../spec/spec.ts'
import { identityOf } from './login.ts'
import type { KeyLogin } from './login.ts'
import { hostKeysFor } from '../network/host-keys.ts'
import { readPrivateKey } from '../private-key/private-key.ts'
import { invalidSecret, requireType, shownKey, sshKeys } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { textIn, valuesOf } from './secret-values.ts'

/** What a login over SSH is made for. */
export interface KeyUse {
  readonly credentials: Credentials
  readonly address: RepositoryAddress
  /** Content of the file SSH_KNOWN_HOSTS, if there is one. */
  readonly operatorHostKeys: string | undefined
}

/**
 * What Git needs to log in over SSH to this repository with this Secret; the caller has checked that the Secret is
 * allowed for it. Throws CredentialsInvalid if the type is not supported, or a key of the Secret is missing or cannot be
 * used; HostKeyUnknown if there is no host key for the host.
 */
export function keyLogin({ credentials, address, operatorHostKeys }: KeyUse, secret: SecretData): KeyLogin {
  requireType(secret)
  const { privateKeyKey, knownHostsKey } = sshKeys(credentials, secret)
  const shown = shownKey(privateKeyKey, 'privateKeyKey')
  const value = secret.data.get(privateKeyKey)
  if (value === undefined)
    throw invalidSecret(secret, `has no key ${shown}; add it, or name another in spec.credentials.`)
  const location = { secret: `${secret.namespace}/${secret.name}`, key: shown }
  const privateKey = readPrivateKey(value, location)
  const hostKeys = hostKeysFor(address, {
    ...(knownHostsKey === undefined ? {} : { secret: textIn(secret, knownHostsKey, 'knownHostsKey') }),
    ...(operatorHostKeys === undefined ? {} : { operator: operatorHostKeys }),
  })
  const identity = identityOf([secret.namespace, secret.name], [privateKey, hostKeys])
  const { namespace } = secret
  return { method: 'key', namespace, privateKey, hostKeys, identity, secrets: valuesOf(secret) }
}
