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

/** The names of a resource that need not be stored yet: then the API server adds five characters to generateName. */
export function namesOf(resource: unknown): Names {
  const metadata = member(resource, 'metadata')
  const name = textMember(metadata, 'name') ?? `${textMember(metadata, 'generateName') ?? ''}xxxxx`
  const namespace = textMember(metadata, 'namespace') ?? ''
  return { namespace, name, kind: textMember(resource, 'kind') ?? '' }
}

/**
 * The spec of a GitCommit with these names in its branch, its message and the paths of its files; a file that refers to
 * an object has the names of that one. Without `files` nothing is filled in: braces are ordinary characters there.
 */
export function withNames<S extends Named>(spec: S, names: Names): S {
  const { branch, message, files } = spec
  if (!Array.isArray(files)) return spec
  return {
    ...spec,
    ...(typeof branch === 'string' ? { branch: filled(branch, names) } : {}),
    ...(typeof message === 'string' ? { message: filled(message, names) } : {}),
    files: files.map((file: NamedFile | null) => withPath(file, names)),
  }
}

/** The branch of a GitCommit as it is called in the repository; undefined: the spec names none. */
export function branchNamed(resource: unknown): string | undefined {
  const spec = member(resource, 'spec')
  const branch = textMember(spec, 'branch')
  if (branch === undefined || !Array.isArray(member(spec, 'files'))) return branch
  return filled(branch, namesOf(resource))
}

function withPath<F extends NamedFile>(file: F | null, names: Names): F | null {
  if (typeof file?.path !== 'string') return file
  const { namespace, name, kind } = file.resourceRef ?? {}
  const own = file.resourceRef
    ? { namespace: namespace ?? names.namespace, name: name ?? '', kind: kind ?? '' }
    : names
  return { ...file, path: filled(file.path, own) }
}

function filled(text: string, names: Names): string {
  return text.replace(PLACEHOLDER, (_whole, key: keyof Names) => names[key])
}
