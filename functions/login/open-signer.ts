import { readFileSync } from 'node:fs'
import { writtenPaths } from '../domain/commit/written-paths.ts'
import { requirePathsAllowed } from '../domain/credentials/secret-binding.ts'
import { valuesOf } from '../domain/credentials/secret-values.ts'
import { Failure } from '../domain/failure.ts'
import type { SoundGitCommit } from '../domain/schema/parse.ts'
import { orUndefined } from '../domain/settings.ts'
import { isSignedByDefault } from '../domain/signing/operator-signing.ts'
import type { Signer } from '../domain/signing/signer.ts'
import { formatOf, signerOf } from '../domain/signing/signing-key.ts'
import { secretSigner } from '../domain/signing/signing-secret.ts'
import type { World } from '../world.ts'
import type { LoggingIn } from './log-in.ts'
import { readSecret, type SecretWorld } from './read-secret.ts'

/** Who signs, and what must not be shown. */
export interface OpenedSigner {
  readonly signer: Signer
  readonly secrets: readonly string[]
}

/**
 * The signer that the spec names, or the operator's where that is set for this repository; undefined: the commit is not
 * signed. Throws what `logIn` throws.
 */
export async function openSigner(
  { resource, authorised, signal, saw, stillThere }: LoggingIn<SoundGitCommit>,
  world: SecretWorld & Pick<World, 'settings'>,
): Promise<OpenedSigner | undefined> {
  const { spec, target, metadata } = resource
  const { namespace } = metadata
  const { author } = world.settings
  // The host signs.
  if (spec.commitVia === 'API') return undefined
  const { signing } = spec
  if (signing === undefined) {
    if (!isSignedByDefault(world.settings, { namespace, target })) return undefined
    return { signer: defaultSigner(world.settings.signingKeyFile, author.email), secrets: [] }
  }
  const named = { field: 'spec.signing', credentials: signing } as const
  const request = { namespace, authorised, target, signal, saw, stillThere }
  const secret = await readSecret(named, request, world)
  const open = (): OpenedSigner => {
    requirePathsAllowed(writtenPaths(spec), secret)
    return { signer: secretSigner(signing, secret, author.email), secrets: valuesOf(secret) }
  }
  return world.workFor(namespace, open, signal)
}

/** Signs with the operator's key, as its file holds it now. Throws CredentialsInvalid if it cannot be used. */
function defaultSigner(file: string | undefined, committer: string): Signer {
  const refuse = (complaint: string): Failure =>
    new Failure(
      'CredentialsInvalid',
      `The operator's default signing key (DEFAULT_SIGNING_KEY_FILE) cannot be used: its file ${complaint}. Ask your Commitlet operator, or name a Secret in spec.signing.`,
    )
  const value = file === undefined ? undefined : orUndefined(() => readFileSync(file))
  if (value === undefined) throw refuse('cannot be read')
  return signerOf(value, formatOf(value), { committer, refuse })
}
