import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Container } from './objects.ts'

type PreStop = NonNullable<Container['lifecycle']>['preStop']

/** Does what the container asks for before its end, sends SIGTERM, and waits for the end. `grace` is in milliseconds. */
export async function endContainer(
  program: ChildProcess | undefined,
  preStop: PreStop,
  { address, grace }: { readonly address: string; readonly grace: number },
): Promise<void> {
  if (program === undefined || isOver(program)) return
  const { httpGet, sleep } = preStop ?? {}
  if (sleep !== undefined) await setTimeout(sleep.seconds * 1000)
  if (httpGet !== undefined) await Promise.race([asks(address, httpGet), setTimeout(grace)])
  if (isOver(program)) return
  program.kill('SIGTERM')
  await once(program, 'exit')
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function asks(host: string, { port, path }: { readonly port: number; readonly path: string }): Promise<void> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false }, (response) => {
      response.resume().once('close', () => resolve())
    })
    asked.once('error', () => resolve()).end()
  })
}
