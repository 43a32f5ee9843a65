import type { Client, ClientChannel } from 'ssh2'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { channelRefused } from './connection-errors.ts'

const RESOURCE_SHORTAGE = 4
/** Servers take 32 KiB (RFC 4253, section 6.1). */
const LEAST_PACKET = 1024

/** Starts a command of the server in a channel of its own. @throws Failure */
export async function openChannel(
  { client, address }: { readonly client: Client; readonly address: RepositoryAddress },
  command: string,
  protocol: string | undefined,
): Promise<ClientChannel> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>()
  const [service = ''] = command.split(' ')
  const env = protocol === undefined ? {} : { env: { GIT_PROTOCOL: protocol } }
  client.exec(command, env, (error, channel) => {
    if (error === undefined) resolve(channel)
    else reject(channelRefused(address, service, reasonOf(error) === RESOURCE_SHORTAGE))
  })
  return promise
}

/** Whether the server takes only packets of so few bytes of data that they cost more than what they carry. */
export function takesTinyPackets({ outgoing }: ClientChannel): boolean {
  // ssh2 has no type for it.
  const isKnown = typeof outgoing === 'object' && outgoing !== null && 'packetSize' in outgoing
  return isKnown && Number(outgoing.packetSize) < LEAST_PACKET
}

function reasonOf(error: Error): unknown {
  return 'reason' in error ? error.reason : undefined
}
