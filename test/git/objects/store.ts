import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitObject, ObjectId, ObjectKind } from '../../../functions/git/objects/object.ts'
import { gitEnvironment } from '../../harness/git-backend.ts'

/** A bare repository of the git binary, to compare with. */
export interface Store {
  readonly path: string
  /** Runs git with this input and returns its output; throws if it fails. */
  git(args: readonly string[], input?: Uint8Array | string): Buffer
  /** Runs git, and returns its whole output even if it fails. */
  attempt(
    args: readonly string[],
    input?: Uint8Array | string,
  ): { readonly ok: boolean; readonly output: string }
  /** All objects by their names. */
  objects(): ReadonlyMap<ObjectId, GitObject>
}

/** Makes an empty repository in a folder of the test. */
export function createStore(folder: string, name = 'store'): Store {
  const path = join(folder, `${name}.git`)
  for (const part of ['objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(path, part), { recursive: true })
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(
    join(path, 'config'),
    '[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n\tfsync = none\n',
  )
  function run(args: readonly string[], input: Uint8Array | string = '') {
    return spawnSync('git', args, { cwd: path, env: gitEnvironment(), input, maxBuffer: 2 ** 30 })
  }
  function git(args: readonly string[], input?: Uint8Array | string): Buffer {
    const { status, stdout, stderr } = run(args, input)
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return stdout
  }
  return {
    path,
    git,
    attempt(args, input) {
      const { status, stdout, stderr } = run(args, input)
      return { ok: status === 0, output: `${stdout.toString()}${stderr.toString()}` }
    },
    objects: () => readBatch(git(['cat-file', '--batch-all-objects', '--batch', '--unordered'])),
  }
}

// For each object: `<id> <kind> <size>`, a line end, the body, a line end.
function readBatch(output: Buffer): ReadonlyMap<ObjectId, GitObject> {
  const objects = new Map<ObjectId, GitObject>()
  for (let at = 0; at < output.length;) {
    const line = output.indexOf('\n', at)
    const [id = '', kind = '', size = ''] = output.toString('latin1', at, line).split(' ')
    const body = output.subarray(line + 1, line + 1 + Number(size))
    objects.set(id, { kind: kind as ObjectKind, id, body })
    at = line + 2 + body.length
  }
  return objects
}
