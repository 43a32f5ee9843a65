import { parseAuthority, parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { branchComplaint } from '../../functions/domain/repository/branch-name.ts'
import { controlComponent, pathComplaint } from '../../functions/domain/repository/committed-path.ts'
import { commitMessage } from '../../functions/domain/commit/commit-message.ts'
import {
  requirePathsAllowed,
  requireRepositoryAllowed,
} from '../../functions/domain/credentials/secret-binding.ts'
import { looksLikeCredential } from '../../functions/domain/credential-text.ts'
import { withoutDraftMarks } from '../../functions/domain/pull-request/draft-title.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { specErrors, specWarnings } from '../../functions/domain/gate/spec-rules.ts'
import { isReadable } from '../../functions/domain/schema/parse.ts'
import { metadataCredentialErrors } from '../../functions/domain/schema/credential-errors.ts'
import { isObjectName } from '../../functions/domain/resource/resource.ts'
import { ALLOWED_PATHS, ALLOWED_REPOSITORIES } from '../../functions/domain/resource/api-names.ts'
import type { LookShare } from '../../functions/looks/look-share.ts'
import { lookAtSources } from '../../functions/looks/source-look.ts'
import type { Shape } from '../harness/growth.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const ADDRESS = parseRepositoryAddress('https://git.example.com/acme/shop.git')
/** As deep as an address may be, at a host with a short name. */
const DEEP_ADDRESS = parseRepositoryAddress(`https://g/${'b/'.repeat(1_000)}b`)
const SPEC = {
  repository: ADDRESS.text,
  message: 'a',
  resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', path: 'a.yaml' },
}
/** Annotations of one object together (apimachinery, TotalAnnotationSizeLimitB). */
const ANNOTATIONS = 256 * KIBI

function judged(spec: unknown): unknown {
  const parsed = parse({ apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', spec })
  return isReadable(parsed) ? specErrors(parsed) : parsed
}

function secret(annotations: Readonly<Record<string, string>>) {
  return { namespace: 'shop', name: 'git', annotations }
}

/** Reads and judges a GitCommit of this name, as a request for it comes. */
function named(spec: object): (name: string) => unknown {
  return (name) => {
    const metadata = { name, namespace: 'shop' }
    const resource = {
      apiVersion: 'commitlet.dev/v1',
      kind: 'GitCommit',
      metadata,
      spec: { ...SPEC, resourceRef: undefined, ...spec },
    }
    const parsed = parse(resource)
    return [
      metadataCredentialErrors(resource),
      isReadable(parsed) ? [specErrors(parsed), specWarnings(parsed)] : parsed,
    ]
  }
}

/** So many files with such a path. */
function filesAt(path: string, count: number): object {
  return { files: Array.from({ length: count }, (_, i) => ({ path: `${path}${i}`, content: '' })) }
}

/** Reads and judges so many files with such a path; names that it holds are those of an object of this name. */
function paths(path: string, name = 'a'): Shape {
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name }
  return (count) => {
    const files = Array.from({ length: count }, (_, i) => ({ path: `${path}${i}`, resourceRef }))
    return () => named({ files })('a')
  }
}

/** Reads and judges so many changes of fields, in 16 files, with three such paths each. */
function fields(path: string): Shape {
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', field: path }
  const change = { field: path, document: { field: path, value: 'x' }, valueFrom: { resourceRef } }
  return (count) => {
    const set = Array.from({ length: count }, () => change)
    const files = Array.from({ length: 16 }, (_, i) => ({
      path: `${i}`,
      set: set.slice(i * 63, i * 63 + 63),
    }))
    return () => named({ files: files.filter((file) => file.set.length > 0) })('a')
  }
}

/** Begins to look at the objects of so many references, with these names. */
function follower(nameOf: (index: number) => string): Shape {
  const shareLook: LookShare = (_namespace, look) => look()
  const cluster = { discover: () => Promise.resolve(undefined), readVersion: () => Promise.resolve('') }
  return (size) => {
    const set = Array.from({ length: size }, (_, i) => {
      const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: nameOf(i), field: '.data' }
      return { field: `.a${i}`, valueFrom: { resourceRef } }
    })
    const files = Array.from({ length: Math.ceil(size / 10) }, (_, i) => {
      return { path: `${i}.yaml`, set: set.slice(i * 10, i * 10 + 10) }
    })
    const spec = { ...SPEC, resourceRef: undefined, files, sync: 'OnChange' }
    const parsed = parse({ apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', spec })
    if (!parsed.sound) throw new Error('The follower has errors.')
    return () => lookAtSources(parsed, { uid: 'a', namespace: 'shop' }, { cluster, shareLook })
  }
}

/** What a spec and the annotations of a Secret hold. */
export const SPEC_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'address of a repository',
    largest: 2 * KIBI,
    read: parseRepositoryAddress,
    texts: {
      'host of dots': ['https://', 'a.', 'b/c'],
      'host of hyphens': ['https://', '-', 'b/c'],
      'one label': ['https://', 'a', '/b'],
      'deep path': ['https://git.example.com', '/a', '.git'],
      'many users': ['ssh://', 'a@', 'git.example.com/b'],
      'short form': ['git@git.example.com:', 'a/', 'a'],
      brackets: ['https://[', ':', ']/a'],
    },
  }),
  textRow({
    parser: 'host and port',
    largest: 2 * KIBI,
    read: parseAuthority,
    texts: {
      labels: ['', 'a-.', 'a'],
      digits: ['', '1.', '1'],
      colons: ['[', ':', ']'],
      name: ['', 'a', ':1'],
    },
  }),
  textRow({
    parser: 'name of a branch',
    largest: KIBI,
    read: branchComplaint,
    texts: {
      slashes: ['a', '/a', ''],
      locks: ['', '.lock', 'a'],
      dots: ['', 'a.', 'b'],
      braces: ['', '@', '{'],
    },
  }),
  textRow({
    parser: 'path of a file',
    largest: KIBI,
    read: (path) => [pathComplaint(path), controlComponent(path)],
    texts: {
      'many folders': ['', 'a/', 'b'],
      'letters that grow': ['', '\ufdfa', ''],
      'invisible letters': ['.g', '\u200c', 'it'],
      'dots and spaces': ['.git', '. ', 'x'],
      'short names': ['', 'git~1', ''],
    },
  }),
  {
    parser: 'paths of a commit',
    largest: 100,
    unit: 'files',
    shapes: {
      'many folders': paths('a/'.repeat(49)),
      'too many folders': paths('a/'.repeat(510)),
      'long folders': paths(`${'a'.repeat(250)}/`.repeat(4)),
      'dots and spaces': paths(`.git${'. '.repeat(110)}x/`.repeat(4)),
      'letters that grow': paths(`${'\ufdfa'.repeat(80)}/`.repeat(12)),
      'long names': paths('{name}/'.repeat(49), 'a'.repeat(253)),
      'names of dots and spaces': paths('{name}/'.repeat(49), `.git${'. '.repeat(124)}x`),
      'names without folders': paths('{name}'.repeat(169), `a~${'1'.repeat(250)}`),
      'names of letters that grow': paths('{name}/'.repeat(49), '\ufdfa'.repeat(253)),
    },
  },
  {
    parser: 'fields of a commit',
    largest: 1_000,
    unit: 'changes',
    shapes: {
      'long filters': fields(`[?(@${'.a'.repeat(470)}`),
      'filters of some keys': fields(`[?(@${'.a'.repeat(40)}`),
      'filters of the most keys': fields(`[?(@${'.a'.repeat(32)}=="x")]`),
      'many steps': fields('.a'.repeat(32)),
      'long steps': fields(`.${'a'.repeat(31)}`.repeat(32)),
      wildcards: fields('.*'),
      'recursive descent': fields('..'),
    },
  },
  ...[
    ['messages', { message: '{name}'.repeat(10_900), files: [{ path: 'a', content: '' }] }] as const,
    ['paths', filesAt('{name}'.repeat(160), 100)] as const,
  ].map(([texts, spec]) =>
    textRow({
      parser: `name of a resource, in ${texts}`,
      largest: 3 * KIBI * KIBI,
      read: named(spec),
      texts: {
        letters: ['', 'x', ''],
        'dots and spaces': ['.git', '. ', 'x'],
        'keys of GitLab': ['', '-glpat', ''],
        templates: ['', '{name}', ''],
      },
    }),
  ),
  textRow({
    parser: 'message of a commit',
    largest: 64 * KIBI,
    read(message) {
      const parts = { namespace: 'a', name: 'b', uid: 'c', generation: 1, requestedAt: undefined }
      return [judged({ ...SPEC, message }), commitMessage({ ...parts, message, requestedBy: message })]
    },
    texts: {
      'blank lines': ['', ' \n', 'x'],
      blanks: ['', ' ', ''],
      'blanks and a word': ['', '\t', 'requested-by'],
      trailers: ['a\n\n', 'A: b\n', ''],
      continuations: ['a\n\nA: b\n', ' c\n', ''],
      comments: ['', '#\n', 'a'],
      'reserved words': ['', 'requested-by ', ''],
      scissors: ['', '------------------------ >8 -----------------------', ''],
    },
  }),
  textRow({
    parser: 'search for tokens',
    largest: 256 * KIBI,
    read: looksLikeCredential,
    texts: {
      'beginnings of a token': ['', '-eyJ', ''],
      'one beginning': ['eyJ', 'a', '.eyJ'],
      'many parts': ['', '_eyJaaaaaaaaaa.', ''],
      'keys of GitLab': ['', '-glpat', ''],
      'private keys': ['', '-----BEGIN A', ''],
    },
  }),
  textRow({
    parser: 'title of a pull request',
    largest: 4 * KIBI * KIBI,
    read: withoutDraftMarks,
    texts: { drafts: ['', 'draft:', ''], blanks: ['draft:', ' ', 'x'], brackets: ['', '[wip] ', '[wi'] },
  }),
  textRow({
    parser: 'name of an object',
    largest: 64 * KIBI,
    read: isObjectName,
    texts: { labels: ['', 'a.', '_'], hyphens: ['a', '-', ''], letters: ['', 'a', '_'] },
  }),
  textRow({
    parser: 'annotation of allowed repositories',
    largest: ANNOTATIONS,
    read(list) {
      requireRepositoryAllowed(secret({ [ALLOWED_REPOSITORIES]: list }), DEEP_ADDRESS, { right: 'get' })
    },
    texts: {
      'short entries': ['', 'a,', 'b'],
      'entries with a path': ['', 'a/b,', ''],
      'the right host': ['', 'g/a,', ''],
      'empty entries': ['', ',', ''],
      'one entry of slashes': ['g', '/', 'a'],
      'one long host': ['', 'a.', ''],
      addresses: ['', '[::1],', ''],
      blanks: ['a', ' ', ',a'],
      'users before the host': ['', 'a@', 'b'],
      'other hosts': ['', 'git.example.org,', ''],
      numbers: ['', '1.1,', ''],
    },
  }),
  textRow({
    parser: 'annotation of allowed paths',
    largest: ANNOTATIONS,
    read(list) {
      const written = Array.from({ length: 100 }, (_, i) => ({
        field: `spec.files[${i}].path`,
        path: `${'a/'.repeat(500)}b${i}`,
      }))
      requirePathsAllowed(written, secret({ [ALLOWED_PATHS]: list }))
    },
    texts: {
      'short entries': ['', 'b,', ''],
      'short entries, the last of which allows all': ['', 'b,', 'a'],
      'entries that begin alike': ['', 'a/a/a/a/c,', ''],
      'one deep entry': ['', 'a/', 'c'],
      'entries of two parts': ['', 'b/c,', ''],
      'empty entries': ['', ',', ''],
    },
  }),
  {
    parser: 'sources of a follower',
    largest: 1_000,
    unit: 'references',
    shapes: { 'different objects': follower(String), 'one object': follower(() => 'a') },
  },
]
