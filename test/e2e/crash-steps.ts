import type { Exchange } from '../harness/git-exchange.ts'

/** Where an attempt is when its process is killed: the request that is held up, before or after it is carried out. */
export type Held = {
  readonly when: 'before' | 'after'
} & (
  | { readonly at: 'API server'; readonly method: string; readonly path: string; readonly phase?: string }
  | { readonly at: 'Git server'; readonly exchange: Exchange }
  | { readonly at: 'host'; readonly method: string }
)

/** A step of an attempt. */
export interface Step {
  /** A name for its resource and its repository. */
  readonly name: string
  readonly kind: 'GitCommit' | 'PullRequest'
  readonly engine: 'direct' | 'binary'
  readonly held: Held
  /** What else there is: a later commit of another writer, or a request by annotation. */
  readonly also?: 'another writer' | 'request'
}

type Titled = readonly [title: string, held: Held, also?: Step['also']]

/** `NAME` stands for the name of the resource. */
export const NAME = '{name}'

function status(plural: string): (phase: string, when: Held['when']) => Held {
  return (phase, when) => ({
    ...{ at: 'API server', method: 'PATCH', path: `/${plural}/${NAME}/status`, phase, when },
  })
}

const ofCommit = status('gitcommits')
const ofPull = status('pullrequests')
const pushed = { at: 'Git server', exchange: 'receive-pack', when: 'after' } as const

/** What both engines do. */
const OF_GIT: readonly Titled[] = [
  ['fetch', { at: 'Git server', exchange: 'upload-pack', when: 'before' }],
  ['push-sent', { at: 'Git server', exchange: 'receive-pack', when: 'before' }],
  ['push-applied', pushed],
  ['push-overwritten', pushed, 'another writer'],
  ['push-requested', pushed, 'request'],
]

const OF_COMMIT: readonly Titled[] = [
  ['claim-sent', ofCommit('Progressing', 'before')],
  ['claimed', ofCommit('Progressing', 'after')],
  ['object-read', { at: 'API server', method: 'GET', path: `/configmaps/${NAME}`, when: 'before' }],
  ['secret-read', { at: 'API server', method: 'GET', path: `/secrets/${NAME}`, when: 'before' }],
  ...OF_GIT,
  ['push-answered', ofCommit('Succeeded', 'before')],
  ['status-written', ofCommit('Succeeded', 'after')],
]

const OF_PULL: readonly Titled[] = [
  ['pull-claim-sent', ofPull('Progressing', 'before')],
  ['pull-claimed', ofPull('Progressing', 'after')],
  ['pull-secret-read', { at: 'API server', method: 'GET', path: `/secrets/${NAME}`, when: 'before' }],
  ['pull-searched', { at: 'host', method: 'GET', when: 'before' }],
  ['pull-create-sent', { at: 'host', method: 'POST', when: 'before' }],
  ['pull-created', { at: 'host', method: 'POST', when: 'after' }],
  ['pull-create-answered', ofPull('Succeeded', 'before')],
  ['pull-status-written', ofPull('Succeeded', 'after')],
]

/** Every step of an attempt of both kinds. */
export const STEPS: readonly Step[] = [
  ...OF_COMMIT.map(stepOf({ kind: 'GitCommit', engine: 'direct' })),
  ...OF_GIT.map(stepOf({ kind: 'GitCommit', engine: 'binary' })),
  ...OF_PULL.map(stepOf({ kind: 'PullRequest', engine: 'direct' })),
]

function stepOf(of: Pick<Step, 'kind' | 'engine'>): (titled: Titled) => Step {
  return ([title, held, also]) => ({
    ...of,
    name: of.engine === 'binary' ? `binary-${title}` : title,
    held,
    ...(also === undefined ? {} : { also }),
  })
}
