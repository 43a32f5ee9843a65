import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { member, textMember } from '../json-value.ts'

/** What `{namespace}`, `{name}` and `{kind}` stand for. */
export interface Names {
  readonly namespace: string
  readonly name: string
  readonly kind: string
}

/** The parts of a spec, with errors or without, whose texts may hold these. */
interface Named {
  readonly branch?: string | null | undefined
  readonly message?: string | null | undefined
  readonly files?: readonly (NamedFile | null)[] | null | undefined
}

interface NamedFile {
  readonly path?: string | null | undefined
  readonly resourceRef?:
    | {
        readonly namespace?: string | null | undefined
        readonly name?: string | null | undefined
        readonly kind?: string | null | undefined
      }
    | null
    | undefined
}

// In doubled braces, as other tools have them, nothing is filled in: the gate warns of them.
const PLACEHOLDER = /(?<!\{)\{(namespace|name|kind)\}(?!\})/g

/** Characters of the longest name that the API server stores. It asks the webhooks before it looks at a name. */
export const LONGEST_NAME = 253

/** How long a text may be with its names; the schema has the same limits for what is written. */
interface Bound {
  readonly most: number
  readonly unit: 'characters' | 'bytes'
  readonly sizeOf: (text: string) => number
}

const inCharacters = { unit: 'characters', sizeOf: (text: string) => text.length } as const
const PATH: Bound = { most: 1_024, ...inCharacters }
const BRANCH: Bound = { most: 255, ...inCharacters }
const MESSAGE: Bound = { most: 65_536, unit: 'bytes', sizeOf: (text) => Buffer.byteLength(text) }

/**
 * The names of a resource that need not be stored yet: then the API server adds five characters to generateName. Of what
 * is too long for a name, the beginning.
 */
export function namesOf(resource: unknown): Names {
  const metadata = member(resource, 'metadata')
  const name = textMember(metadata, 'name') ?? `${textMember(metadata, 'generateName') ?? ''}xxxxx`
  const names = [textMember(metadata, 'namespace'), name, textMember(resource, 'kind')] as const
  const [namespace = '', ownName = '', kind = ''] = names.map((one) => one?.slice(0, LONGEST_NAME))
  return { namespace, name: ownName, kind }
}

/**
 * The errors of a GitCommit with `files` whose texts are too long with their names. They are counted before any of them
 * is made: of a few kilobytes of placeholders, long names make megabytes.
 */
export function namesExcess({ branch, message, files }: Named, names: Names): readonly FieldError[] {
  if (!Array.isArray(files)) return []
  return [
    ...excessOf('spec.branch', branch, names, BRANCH),
    ...excessOf('spec.message', message, names, MESSAGE),
    ...files.flatMap((file: NamedFile | null, i) =>
      excessOf(`spec.files[${i}].path`, file?.path, namesFor(file, names), PATH),
    ),
  ]
}

/**
 * The spec of a GitCommit with these names in its branch, its message and the paths of its files; a file that refers to
 * an object has the names of that one. Without `files` nothing is filled in: braces are ordinary characters there. A
 * text that would be too long stays as it is.
 */
export function withNames<S extends Named>(spec: S, names: Names): S {
  const { branch, message, files } = spec
  if (!Array.isArray(files)) return spec
  return {
    ...spec,
    ...(typeof branch === 'string' ? { branch: filled(branch, names, BRANCH) } : {}),
    ...(typeof message === 'string' ? { message: filled(message, names, MESSAGE) } : {}),
    files: files.map((file: NamedFile | null) => withPath(file, names)),
  }
}

/** The branch of a GitCommit as it is called in the repository; undefined: the spec names none. */
export function branchNamed(resource: unknown): string | undefined {
  const spec = member(resource, 'spec')
  const branch = textMember(spec, 'branch')
  if (branch === undefined || !Array.isArray(member(spec, 'files'))) return branch
  return filled(branch, namesOf(resource), BRANCH)
}

function withPath<F extends NamedFile>(file: F | null, names: Names): F | null {
  if (typeof file?.path !== 'string') return file
  return { ...file, path: filled(file.path, namesFor(file, names), PATH) }
}

function namesFor(file: NamedFile | null, names: Names): Names {
  if (!file?.resourceRef) return names
  const { namespace, name, kind } = file.resourceRef
  return { namespace: namespace ?? names.namespace, name: name ?? '', kind: kind ?? '' }
}

function filled(text: string, names: Names, bound: Bound): string {
  if (sizeWith(text, names, bound) > bound.most) return text
  return text.replace(PLACEHOLDER, (_whole, key: keyof Names) => names[key])
}

function excessOf(
  field: string,
  text: string | null | undefined,
  names: Names,
  bound: Bound,
): readonly FieldError[] {
  const { most, unit } = bound
  const size = sizeWith(text ?? '', names, bound)
  if (size <= most) return []
  return [fieldError(field, `has ${size} ${unit}, but at most ${most} are allowed; make it shorter.`)]
}

function sizeWith(text: string, names: Names, { sizeOf }: Bound): number {
  const sizes = { namespace: sizeOf(names.namespace), name: sizeOf(names.name), kind: sizeOf(names.kind) }
  let size = sizeOf(text)
  for (const [placeholder] of text.matchAll(PLACEHOLDER))
    size += sizes[keyOf(placeholder)] - placeholder.length
  return size
}

function keyOf(placeholder: string): keyof Names {
  if (placeholder === '{name}') return 'name'
  return placeholder === '{kind}' ? 'kind' : 'namespace'
}
