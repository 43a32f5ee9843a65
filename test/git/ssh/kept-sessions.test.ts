import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { keepSessions, type SessionUse } from '../../../functions/git/ssh/kept-sessions.ts'
import type { SSHSession } from '../../../functions/git/ssh/session.ts'
import type { Lease } from '../../../functions/git/ssh/threads/thread-places.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { keyLogin } from './stage.ts'

const KEY = makeKey('-t', 'ed25519')
const ADDRESS = '192.0.2.1'
const nothing = (): undefined => undefined

/** A session without programs, which is open until it is closed. */
function openSession(): SSHSession {
  let isOpen = true
  return {
    remoteAddress: ADDRESS,
    exec: () => Promise.reject(new Error('It runs no program.')),
    lost: nothing,
    isOpen: () => isOpen,
    isUsed: () => true,
    isIdle: () => true,
    idle: () => Promise.resolve(),
    close: () => void (isOpen = false),
  }
}

/** Gives the only thread to whoever asks; resolves when its lease was given back. */
function leaseOf(thread: Lease['thread']): { lease: Lease; released: Promise<unknown> } {
  const { promise: released, resolve } = Promise.withResolvers<undefined>()
  const lease = {
    thread,
    logIn: <T>(work: () => Promise<T>) => work(),
    reached: nothing,
    release: () => resolve(undefined),
  }
  return { lease, released }
}

function useOf(namespace: string): SessionUse {
  const address = parseRepositoryAddress('ssh://git@git.example.com/team/config')
  return { address, addresses: [ADDRESS], login: keyLogin(KEY, '', namespace) }
}

t.test('sessions that were kept are closed once their thread goes on for another namespace', async (t) => {
  const thread = { listen: () => 0, forget: nothing, post: nothing, hold: nothing, isEnding: () => false }
  const { lease, released } = leaseOf({ ...thread, end: nothing, ended: Promise.resolve(undefined) })
  const kept = keepSessions(60_000)
  const [own, other] = [openSession(), openSession()]
  kept.giveBack(own, lease, useOf('team'))
  kept.giveBack(other, lease, useOf('others'))
  await released
  kept.closeOthers(lease, 'team')
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(own.isOpen())
  t.notOk(other.isOpen())
  t.equal(await kept.take(lease, useOf('team')), own)
  t.equal(await kept.take(lease, useOf('others')), undefined)
})
