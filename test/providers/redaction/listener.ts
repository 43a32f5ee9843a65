/** Records what this process prints. */
export interface Listener {
  heard(): string
  stop(): void
}

/** Takes over both outputs, and passes nothing on, until `stop`. */
export function listen(): Listener {
  const outputs = [process.stdout, process.stderr] as const
  const kept = outputs.map((output) => output.write.bind(output))
  let heard = ''
  for (const output of outputs) {
    output.write = (chunk: string | Uint8Array): boolean => {
      heard += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      return true
    }
  }
  return {
    heard: () => heard,
    stop() {
      for (const [index, output] of outputs.entries()) Reflect.set(output, 'write', kept[index])
    },
  }
}
