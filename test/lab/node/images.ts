import { dirname, join } from 'node:path'
import type { Container } from './objects.ts'

/** What stands for an image: its command, and folders of the machine with the place where they are mounted. */
export interface Image {
  readonly command: readonly string[]
  readonly binds: readonly (readonly [string, string])[]
}

export interface Images {
  of(container: Container): Image
}

/** The name of Knative's sidecar, for which its configuration has to name an image. */
export const QUEUE_IMAGE = `queue.invalid/queue@sha256:${'0'.repeat(64)}`

/** Knative's programs by their names in its manifests, and Commitlet as its Dockerfile says. */
export function imagesOf(places: { readonly knative: string; readonly app: string }): Images {
  return {
    of({ image, command, args = [] }) {
      if (image === QUEUE_IMAGE) return program('queue')
      const known = /^ko:\/\/knative\.dev\/serving\/cmd\/(\w+)$/.exec(image)?.[1]
      if (known !== undefined) return program(known)
      const node = ['/opt/node/node', '--max-semi-space-size=4', 'boot.cjs']
      const binds = [
        [places.app, '/app'],
        [dirname(process.execPath), '/opt/node'],
      ] as const
      return { command: command ?? [...node, ...(args.length === 0 ? ['dist/function.cjs'] : args)], binds }
    },
  }

  function program(name: string): Image {
    return { command: [join('/opt/knative', name)], binds: [[places.knative, '/opt/knative']] }
  }
}
