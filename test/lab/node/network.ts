import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The node's own address, at which pods reach it. */
export const NODE_IP = '10.244.0.1'

/** Makes the bridge of the pods. */
export async function makeBridge(): Promise<void> {
  await ip('link add br0 type bridge')
  await ip(`addr add ${NODE_IP}/16 dev br0`)
  await ip('link set br0 up')
}

/** A network namespace with one address, connected to the bridge. */
export interface PodNetwork {
  readonly name: string
  readonly address: string
  remove(): Promise<void>
}

let last = 0

/** Makes one for a pod. */
export async function makePodNetwork(): Promise<PodNetwork> {
  last += 1
  const [name, link] = [`pod${last}`, `veth${last}`]
  const address = `10.244.${1 + Math.floor(last / 250)}.${1 + (last % 250)}`
  await ip(`netns add ${name}`)
  await ip(`link add ${link} master br0 type veth peer name eth0 netns ${name}`)
  await ip(`link set ${link} up`)
  await ip(`-n ${name} link set lo up`)
  await ip(`-n ${name} addr add ${address}/16 dev eth0`)
  await ip(`-n ${name} link set eth0 up`)
  await ip(`-n ${name} route add default via ${NODE_IP}`)
  return { name, address, remove: () => ip(`netns del ${name}`) }
}

/** Makes this address one of the node's own. */
export async function ownAddress(address: string): Promise<void> {
  await ip(`addr replace ${address}/32 dev lo`)
}

async function ip(words: string): Promise<void> {
  await run('ip', words.split(' '))
}
