import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { API_PATH } from './gitea-api.ts'

/** The API as a function that returns when the answer is there; throws for any answer of 300 or more. */
export type AskNow = (method: string, path: string, content?: object) => unknown

interface Answer {
  readonly status: number
  readonly said: string
}

/** Runs in the thread: asks, puts the answer into the port, and wakes the other side. */
const THREAD = `
const { workerData: { port, woken } } = require('node:worker_threads')
port.on('message', ({ url, ...request }) => {
  fetch(url, request)
    .then(async (answer) => ({ status: answer.status, said: await answer.text() }))
    .catch((error) => ({ status: 599, said: String(error) }))
    .then((answer) => {
      port.postMessage(answer)
      Atomics.store(woken, 0, 1)
      Atomics.notify(woken, 0)
    })
})
`

/**
 * The suite of the providers changes its hosts by assignment, which has no promise: a thread asks, and this one stands still.
 * The thread starts with the first question, and does not keep the process alive.
 */
export function askingNow(port: number, authorization: string): AskNow {
  const woken = new Int32Array(new SharedArrayBuffer(4))
  const { port1, port2 } = new MessageChannel()
  let thread: Worker | undefined
  return (method, path, content) => {
    thread ??= new Worker(THREAD, { eval: true, workerData: { port: port2, woken }, transferList: [port2] })
    thread.unref()
    const headers = { authorization, 'content-type': 'application/json' }
    const body = content === undefined ? {} : { body: JSON.stringify(content) }
    port1.postMessage({ url: `http://127.0.0.1:${port}${API_PATH}${path}`, method, headers, ...body })
    Atomics.wait(woken, 0, 0)
    Atomics.store(woken, 0, 0)
    const { status, said } = receiveMessageOnPort(port1)?.message as Answer
    if (status >= 300) throw new Error(`${method} ${path} ended with ${status}: ${said}`)
    return said === '' ? undefined : (JSON.parse(said) as unknown)
  }
}
