import { dirname, join } from 'node:path'

/** Sources by path from the top of the repository. */
export type Sources = ReadonlyMap<string, string>

/**
 * Every floor, and the floors that it may import. A floor is a folder; its folders are its rooms. What is at the
 * top of a floor is shared by its rooms, or puts them together.
 */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  functions: [
    'functions/cluster',
    'functions/git',
    'functions/http',
    'functions/net',
    'functions/providers',
    'functions/telemetry',
    'functions/domain',
  ],
  'functions/cluster': ['functions/domain'],
  'functions/git': ['functions/http', 'functions/net', 'functions/domain'],
  'functions/http': ['functions/net', 'functions/domain'],
  'functions/providers': ['functions/domain'],
  'functions/net': ['functions/domain'],
  'functions/telemetry': ['functions/net', 'functions/domain'],
  'functions/domain': [],
  webhook: ['functions/cluster', 'functions/net', 'functions/telemetry', 'functions/domain'],
  cli: [
    'functions',
    'functions/cluster',
    'functions/git',
    'functions/http',
    'functions/net',
    'functions/providers',
    'functions/domain',
  ],
}

/** Where each package may be used. Node's own modules and `import type` are free, but for domain/. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^functions\/cluster\//,
  'simple-git': /^functions\/git\/process\//,
  fastify: /^(functions|webhook)\/app\.ts$/,
  pino: /^(functions\/telemetry\/log|cli\/local\/site)\.ts$/,
  commander: /^cli\/commands\//,
  ajv: /^functions\/domain\/schema\//,
  yaml: /^(functions\/domain\/edit|cli\/input)\//,
  ssh2: /^functions\/git\/ssh-worker\//,
  undici: /^functions\/http\//,
  'lru-cache': /^(functions\/(cluster|commit|git|http|login|pull-request)|webhook\/admission)\//,
  selfsigned: /^webhook\/certificate\//,
  'prom-client': /^functions\/telemetry\//,
  '@octokit/auth-app': /^functions\/providers\/github\//,
  '@octokit/rest': /^functions\/providers\/github\//,
  '@gitbeaker/rest': /^functions\/providers\/gitlab\//,
}

/** Pure computation only: no clock, no network, no files, no environment. */
const PURE_MODULES = ['node:crypto', 'node:buffer', 'node:util', 'node:net']
const LARGEST_ROOM = 15
const SMALLEST_ROOM = 3
/** Names that do not say what is inside. */
const EMPTY_NAMES = /\b(utils?|helpers?|common|misc|managers?|services?)\b/

/** One import of a source. */
export interface Import {
  readonly file: string
  /** Path from the top of the repository, or the name of a package or of a module of Node's. */
  readonly target: string
  readonly typeOnly: boolean
}

/** The imports of all sources, `import()` included. */
export function importsOf(sources: Sources): readonly Import[] {
  return [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)].map(
      (match) => {
        const target = match[2] ?? match[3] ?? ''
        return {
          file,
          typeOnly: match[1] !== undefined,
          target: target.startsWith('.') ? join(dirname(file), target) : target,
        }
      },
    ),
  )
}

/** What breaks the rules: one line each; empty without a violation. */
export function complaintsAbout(sources: Sources): readonly string[] {
  const imports = importsOf(sources)
  const inside = imports.filter(({ target }) => sources.has(target))
  return [
    ...imports.filter((found) => !isAllowed(found, sources)).map(described),
    ...circlesIn(inside.map(({ file, target }) => [file, target] as const)),
    ...circlesIn(inside.map(({ file, target }) => [placeOf(file), placeOf(target)] as const)),
    ...roomComplaints(sources),
    ...[...sources.keys()]
      .filter((file) => EMPTY_NAMES.test(file))
      .map((file) => `${file} has an empty name`),
  ]
}

function described({ file, target }: Import): string {
  return `${file} imports ${target}`
}

function isAllowed({ file, target, typeOnly }: Import, sources: Sources): boolean {
  const floor = floorOf(file)
  if (sources.has(target)) {
    const below = floorOf(target)
    return (below === floor || (BELOW[floor] ?? []).includes(below)) && !isOtherHost(file, target)
  }
  if (target.startsWith('node:')) return floor !== 'functions/domain' || PURE_MODULES.includes(target)
  if (typeOnly && floor !== 'functions/domain') return true
  const name = target.split('/')[0]
  return Object.entries(PACKAGES).some(
    ([known, place]) => known.split('/')[0] === name && place.test(file) && !target.startsWith('functions/'),
  )
}

/** A host's folder does not import that of another host. */
function isOtherHost(file: string, target: string): boolean {
  const [one, other] = [file, target].map((path) => /^functions\/providers\/([^/]+)\//.exec(path)?.[1])
  return one !== undefined && other !== undefined && one !== other
}

function floorOf(file: string): string {
  const floors = Object.keys(BELOW).filter((floor) => file.startsWith(`${floor}/`))
  return floors.toSorted((a, b) => b.length - a.length)[0] ?? ''
}

/** The room of a file; a file at the top of a floor that has rooms stands for itself. */
function placeOf(file: string): string {
  const folder = dirname(file)
  const hasRooms = ['functions', 'functions/domain', 'functions/git', 'functions/providers', 'webhook', 'cli']
  return hasRooms.includes(folder) ? file : folder
}

/** One line for each circle that a walk over the edges finds. */
function circlesIn(edges: readonly (readonly [string, string])[]): readonly string[] {
  const next = Map.groupBy(
    edges.filter(([from, to]) => from !== to),
    ([from]) => from,
  )
  const done = new Set<string>()
  const found: string[] = []
  function walk(at: string, path: readonly string[]): void {
    if (path.includes(at)) {
      found.push(`a circle: ${[...path.slice(path.indexOf(at)), at].join(' > ')}`)
      return
    }
    if (done.has(at)) return
    for (const [, to] of next.get(at) ?? []) walk(to, [...path, at])
    done.add(at)
  }
  for (const [from] of edges) walk(from, [])
  return [...new Set(found)]
}

function roomComplaints(sources: Sources): readonly string[] {
  const rooms = Map.groupBy(sources.keys(), (file) => dirname(file))
  return [...rooms].flatMap(([room, files]) => {
    if (files.length > LARGEST_ROOM) return [`${room} has ${files.length} files: is it several rooms?`]
    const isRoom = BELOW[room] === undefined
    return isRoom && files.length < SMALLEST_ROOM
      ? [`${room} has ${files.length} files: to whose room do they belong?`]
      : []
  })
}
