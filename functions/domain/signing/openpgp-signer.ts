import type { FoundOpenPGPKey, OpenPGPKey } from '../openpgp/find-key.ts'
import { addressIn, WRONG, type KeyUse } from './key-use.ts'
import { openPGPSignature } from './openpgp-signature.ts'
import { isSlowKey } from './raw-signature.ts'
import { rememberLast, type Signer } from './signer.ts'

/**
 * Signs with an OpenPGP key that was found. The signature has the date of the commit.
 * @throws Failure of `refuse` if it cannot be used, or its user IDs name addresses and none is the committer's
 */
export function openPGPSigner(found: FoundOpenPGPKey, use: KeyUse): Signer {
  if ('complaint' in found) throw use.refuse(found.complaint)
  requireOwner(found, use)
  return rememberLast({
    isSlow: isSlowKey(found.key),
    requireValid: (date) => requireValid(found, Math.floor(date.getTime() / 1000), use),
    async sign(commit) {
      const made = dateOf(commit)
      requireValid(found, made, use)
      return openPGPSignature(found, commit, made).catch(() => {
        // The message of OpenSSL may tell of the key.
        throw use.refuse(WRONG)
      })
    },
  })
}

function requireOwner({ userIDs }: OpenPGPKey, { committer, refuse }: KeyUse): void {
  const owners = userIDs.flatMap((userID) => addressIn(/<([^<>]*)>\s*$/.exec(userID)?.[1] ?? userID) ?? [])
  if (committer === undefined || owners.length === 0 || owners.includes(committer.toLowerCase())) return
  throw refuse(
    `belongs by its user IDs to other addresses than ${committer}, with which Commitlet commits (COMMIT_AUTHOR_EMAIL); take a key of that address, or add a user ID of it (\`gpg --quick-add-uid\`)`,
  )
}

/** Who verifies it calls a signature bad that was made before its key, or after its end. */
function requireValid({ made: first, expires }: OpenPGPKey, made: number, { refuse }: KeyUse): void {
  if (made < first)
    throw refuse(
      `holds an OpenPGP key that was made on ${day(first)}, after the commit of ${day(made)}; set the clocks`,
    )
  if (made >= expires)
    throw refuse(
      `holds an OpenPGP key that has expired on ${day(expires)}; extend it (\`gpg --quick-set-expire\`) and export it again`,
    )
}

/** The committer's date, in seconds since 1970. */
function dateOf(commit: Buffer): number {
  const [, seconds] = /\ncommitter [^\n]*> (\d{1,10}) [+-]\d{4}\n/.exec(commit.toString('latin1')) ?? []
  if (seconds === undefined) throw new TypeError('A commit without the date of its committer.')
  return Number(seconds)
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
