/** A path in a repository, and the field of the spec that names it. */
export interface WrittenPath {
  readonly field: string
  readonly path: string
}

/** Maximum bytes of one component: NAME_MAX of Linux, the smallest limit of the common file systems. */
const COMPONENT_BYTES = 255
/** Maximum components: a tree is read and written for each folder on the way. */
const COMPONENTS = 64

/**
 * Files that configure Git, a host or what runs or approves changes there, in any folder (gitattributes(5),
 * gitignore(5), gitmodules(5), the documentation of each host).
 */
const CONTROL_FILES = [
  '.gitmodules',
  '.gitattributes',
  '.gitignore',
  '.mailmap',
  'codeowners',
  'owners',
  'owners_aliases',
  '.lfsconfig',
  '.gitlab-ci.yml',
  'bitbucket-pipelines.yml',
  '.woodpecker.yml',
  '.woodpecker.yaml',
  '.drone.yml',
  '.drone.star',
  '.drone.jsonnet',
  '.travis.yml',
  'azure-pipelines.yml',
  'azure-pipelines.yaml',
  '.vsts-ci.yml',
  'jenkinsfile',
  'appveyor.yml',
  '.appveyor.yml',
  '.cirrus.yml',
  '.cirrus.star',
  'cloudbuild.yml',
  'cloudbuild.yaml',
  'buildspec.yml',
  'buildspec.yaml',
  'codefresh.yml',
  'bitrise.yml',
  'codemagic.yaml',
  'wercker.yml',
  '.zuul.yaml',
  'zuul.yaml',
  '.build.yml',
  'screwdriver.yaml',
  '.onedev-buildspec.yml',
  '.prow.yaml',
  '.mergify.yml',
  'renovate.json',
  'renovate.json5',
  '.renovaterc',
  '.renovaterc.json',
  '.renovaterc.json5',
  '.gitpod.yml',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  'lefthook.yaml',
  '.lefthook.yml',
  '.lefthook.yaml',
  '.devcontainer.json',
  'buildkite.yml',
  'buildkite.yaml',
  'buildkite.json',
  '.ci-operator.yaml',
  '.cnb.yml',
  '.coding-ci.yml',
  'atlantis.yaml',
  '.policy.yml',
  '.pullapprove.yml',
  '.bulldozer.yml',
  '.kodiak.toml',
  '.asf.yaml',
  '.readthedocs.yaml',
  '.readthedocs.yml',
  'netlify.toml',
  'vercel.json',
  'render.yaml',
  'amplify.yml',
]

/** Folders whose content a host or a pipeline runs or uses as its configuration. */
const CONTROL_FOLDERS = [
  '.github',
  '.gitlab',
  '.gitea',
  '.forgejo',
  '.circleci',
  '.tekton',
  '.woodpecker',
  '.buildkite',
  'buildkite',
  '.semaphore',
  '.azure-pipelines',
  '.teamcity',
  '.builds',
  '.harness',
  '.zuul.d',
  'zuul.d',
  '.mergify',
  '.husky',
  '.devcontainer',
  '.prow',
  '.workflow',
  '.spacelift',
]

const CONTROL_NAMES = new Set([...CONTROL_FILES, ...CONTROL_FOLDERS])
const SHORT_NAMES = new Set([...CONTROL_NAMES].flatMap(shortNames))

/**
 * Why a text is not a path in a repository, as the end of a sentence ("has an empty part …"); undefined if it is one.
 * The rules are those of Git's verify_path() with core.protectHFS and core.protectNTFS on, which
 * the plumbing that writes our commits does not apply.
 */
export function pathComplaint(path: string): string | undefined {
  if (!path.isWellFormed())
    return 'contains half a character (a lone surrogate); write it in whole characters.'
  if (/\p{Cc}/u.test(path)) return 'contains a control character; leave it out.'
  if (path.includes('\\')) return 'contains a backslash; write "/" between the parts.'
  if (path.startsWith('/')) return 'begins with "/"; write it from the top of the repository.'
  const components = path.split('/')
  if (components.length > COMPONENTS)
    return `has ${components.length} parts between "/", but at most ${COMPONENTS} are allowed; choose a path with fewer folders.`
  return components.map(componentComplaint).find(Boolean)
}

/** The component that makes the path that of a file which configures Git or the host; undefined if there is none. */
export function controlComponent(path: string): string | undefined {
  return path.split('/').find(isControl)
}

function componentComplaint(component: string): string | undefined {
  if (component === '')
    return 'has an empty part; write exactly one "/" between the parts and none at the end.'
  // Windows drops dots and spaces at the end, so that such a part means the folder itself, or its parent.
  if (/^[. ]+$/.test(component))
    return `has the part "${component}", of dots and spaces alone; write the path without it.`
  if (new TextEncoder().encode(component).length > COMPONENT_BYTES) {
    return `has a part of more than ${COMPONENT_BYTES} bytes; make it shorter.`
  }
  if (isDotGit(component)) return 'has a part that some system takes for ".git"; choose another name.'
  return undefined
}

// As in is_ntfs_dotgit() and is_hfs_dotgit() of Git: short names, streams, trailing dots and spaces, invisible letters.
function isDotGit(component: string): boolean {
  return /^(?:\.git|git~[0-9]+)[. ]*(?::|$)/.test(folded(component))
}

function isControl(component: string): boolean {
  const [name = ''] = folded(component).split(':')
  const bare = name.slice(0, endOf(name))
  if (CONTROL_NAMES.has(bare)) return true
  return SHORT_NAMES.has(bare.replace(/~[0-9]+/, '~1').replace(/^(..)[0-9a-f]{4}~/, '$1#~'))
}

/** Where a name ends without the dots and spaces at its end. A pattern would begin again in each row of them. */
function endOf(name: string): number {
  let end = name.length
  while (end > 0 && '. '.includes(name.charAt(end - 1))) end -= 1
  return end
}

/**
 * The 8.3 names of a file on NTFS, with 1 after "~": of its first six letters, and with four hex digits of a
 * hash after the first two, here "#" (is_ntfs_dot_generic() of Git).
 */
function shortNames(name: string): readonly string[] {
  const [, stem = '', ending = ''] = /^\.*(.*?)(?:\.([^.]*))?$/.exec(name) ?? []
  const letters = stem.replaceAll('.', '')
  const rest = ending === '' ? '' : `.${ending.slice(0, 3)}`
  return [`${letters.slice(0, 6)}~1${rest}`, `${letters.slice(0, 2)}#~1${rest}`]
}

// Every character that HFS+ ignores in names is default-ignorable in Unicode. Case-insensitive file systems treat more
// letters as equal than toLowerCase() (ſ as s, the Kelvin sign as k), some of them by compatibility (NFKC).
function folded(component: string): string {
  const visible = component.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible.normalize('NFKC').toUpperCase().toLowerCase()
}
