/** A path in a repository, and the field of the spec that names it. */
export interface WrittenPath {
  readonly field: string
  readonly path: string
}

/** Maximum bytes of one component: NAME_MAX of Linux, the smallest limit of the common file systems. */
const COMPONENT_BYTES = 255

/** Files that configure Git or a host in any folder (gitattributes(5), gitignore(5), gitmodules(5), the hosts' docs). */
const CONTROL_FILES = [
  '.gitmodules',
  '.gitattributes',
  '.gitignore',
  '.mailmap',
  'codeowners',
  '.lfsconfig',
  '.gitlab-ci.yml',
  'bitbucket-pipelines.yml',
  '.woodpecker.yml',
  '.woodpecker.yaml',
  '.drone.yml',
  '.travis.yml',
  'azure-pipelines.yml',
  'jenkinsfile',
]

/** Folders whose content a host runs or uses as its configuration. */
const CONTROL_FOLDERS = ['.github', '.gitlab', '.gitea', '.forgejo', '.circleci', '.tekton', '.woodpecker']

/** The stems of the 8.3 names of these on NTFS, also those with a hash (is_ntfs_dot_generic() of Git). */
const SHORT_STEMS = [
  'git(?:mod|att|ign|hub|lab|ea)|mailma|forgej|circle|tekton|codeow',
  'lfscon|bitbuc|woodpe|drone|travis|azure-|jenkin',
  '(?:gi|ma|fo|ci|te|co|lf|bi|wo|dr|tr|az|je)[0-9a-f]{4}',
]
const SHORT_NAMES = new RegExp(`^(?:${SHORT_STEMS.join('|')})~[0-9]+(?:\\.(?:yml|yam))?$`)

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
  return path.split('/').map(componentComplaint).find(Boolean)
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
  const bare = name.replace(/[. ]+$/, '')
  if (CONTROL_FILES.includes(bare) || CONTROL_FOLDERS.includes(bare)) return true
  return SHORT_NAMES.test(bare)
}

// Every character that HFS+ ignores in names is default-ignorable in Unicode. Case-insensitive file systems treat more
// letters as equal than toLowerCase() (ſ as s, the Kelvin sign as k), some of them by compatibility (NFKC).
function folded(component: string): string {
  const visible = component.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible.normalize('NFKC').toUpperCase().toLowerCase()
}
