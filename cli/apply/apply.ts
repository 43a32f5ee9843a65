import { userInfo } from 'node:os'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { failureOf, judge } from '../../functions/domain/gate/gate.ts'
import { reviewContextOf } from '../../functions/domain/gate/review-context.ts'
import type { Outcome as Done } from '../../functions/domain/resource/status.ts'
import type { Config } from '../../functions/config.ts'
import { listOption, textOption, type Call } from '../call.ts'
import { fileCluster } from '../input/file-cluster.ts'
import { readObjects, type FileObject } from '../input/objects.ts'
import { KEY, localConfig } from '../input/settings.ts'
import { asApplied, isResource, requireNames, type LocalResource } from '../local/resource.ts'
import { openSite, type Site } from '../local/site.ts'
import { UsageError, worst, type Outcome } from '../terminal/exit-codes.ts'
import { withoutPromise } from '../terminal/steps.ts'
import { jsonText, plainLine, styles } from '../terminal/style.ts'
import { carryOut } from './carry-out.ts'
import { requestIn, runIdentity, uidOf, type RunIdentity } from './run-identity.ts'

/** What became of a resource of the files. */
interface Ended {
  readonly about: string
  readonly ended: Done | Failure | typeof SUSPENDED
}

/** As in a cluster, nothing is started for it. */
const SUSPENDED = {
  reason: 'Suspended',
  message: 'Nothing was started, because spec.suspend is true.',
} as const

/** `commitlet apply`: files in place of a cluster; their resources are carried out from this machine. */
export async function apply(call: Call): Promise<Outcome> {
  const { terminal } = call
  const files = listOption(call, 'filename')
  if (files.length === 0 || call.words.length > 0)
    throw new UsageError('Name the files with -f; apply takes no other words.')
  const seconds = secondsOf(textOption(call, 'timeout') ?? '')
  const objects = await readObjects(files, terminal.readInput)
  const namespace = textOption(call, 'namespace') ?? 'default'
  const config = localConfig(terminal.env, {}, [KEY])
  const identity = runIdentity(textOption(call, 'run'), new Date())
  const username = textOption(call, 'requester') ?? userInfo().username
  const wanted = inOrder(objects.filter(isResource))
  if (wanted.length === 0) throw new UsageError(`${files.join(', ')} has no GitCommit and no PullRequest.`)
  for (const object of wanted) requireNames(object, namespace)
  const site = openSite(fileCluster({ objects, namespace }), config, terminal.signal)
  const endings: Ended[] = []
  try {
    for (const object of wanted) {
      const about = `${object.kind} ${object.namespace ?? namespace}/${object.name}`
      const resource = stampedBy(username, object, { identity, namespace, config, objects })
      terminal.progress(`${about} …`)
      const ended = await carriedOut(resource, site, { call, about, seconds, identity }).catch(asFailure)
      terminal.progress('')
      endings.push({ about, ended })
      if (textOption(call, 'output') !== 'json') printEnding({ about, ended }, call)
    }
  } finally {
    await site.close()
  }
  if (textOption(call, 'output') === 'json') terminal.print(jsonText(endings.map(inJSON)))
  return worst(endings.map(({ ended }) => outcomeOf(ended)))
}

/** Pull requests come last: their branches are made by commits. */
function inOrder(objects: readonly FileObject[]): readonly FileObject[] {
  const isCommit = ({ kind }: FileObject): boolean => kind === 'GitCommit'
  return [...objects.filter(isCommit), ...objects.filter((object) => !isCommit(object))]
}

interface Stamping {
  readonly identity: RunIdentity
  readonly namespace: string
  readonly config: Config
  readonly objects: readonly FileObject[]
}

/** A commit is of this run. A pull request is of its resource, whatever run updates it. */
function stampedBy(
  username: string,
  object: FileObject,
  { identity, namespace, config, objects }: Stamping,
): LocalResource {
  const of = object.namespace ?? namespace
  const { delegation, stampKey } = config
  const applying = { user: { username }, namespace: of, delegation, stampKey, uid: uidOf(object, of) }
  const { parsed } = asApplied(object, applying)
  if (parsed.kind !== 'GitCommit') return asApplied(object, applying)
  const requestedAt = requestIn(identity.run, parsed, objects)
  return asApplied(object, { ...applying, requestedAt, startedAt: identity.since })
}

interface Carrying {
  readonly call: Call
  readonly about: string
  readonly seconds: number
  readonly identity: RunIdentity
}

async function carriedOut(
  resource: LocalResource,
  site: Site,
  carrying: Carrying,
): Promise<Done | typeof SUSPENDED> {
  const { call, about, seconds, identity } = carrying
  const { world, config } = site
  const { namespace } = resource.envelope.metadata
  const context = reviewContextOf({ username: '' }, namespace, { cluster: world.cluster, settings: config })
  const refused = failureOf(await judge(resource.parsed, context))
  if (refused !== undefined) throw refused
  if (resource.envelope.suspended === true) return SUSPENDED
  const { signal, progress } = call.terminal
  const patience = {
    seconds,
    signal,
    retrying: ({ reason }: Failure, inSeconds: number) =>
      progress(`${about}: ${reason}, again in ${inSeconds} s …`),
  }
  return carryOut(resource, site, {
    patience,
    again: identity.again && resource.envelope.kind === 'GitCommit',
  })
}

function secondsOf(text: string): number {
  const [, count = '', unit = 's'] = /^(\d{1,6})(s|m|h)?$/.exec(text) ?? []
  if (count === '')
    throw new UsageError(`--timeout is "${text}", but has to be a number of seconds, or a time such as 10m.`)
  return Number(count) * ({ s: 1, m: 60, h: 3600 }[unit] ?? 1)
}

function outcomeOf(ended: Ended['ended']): Outcome {
  if (!(ended instanceof Failure)) return 'good'
  return ended.retry === 'transient' ? 'unknown' : 'wrong'
}

function printEnding({ about, ended }: Ended, { terminal }: Call): void {
  const styled = styles(terminal.colour)
  const [mark, said] =
    ended instanceof Failure
      ? [styled('red', '✗'), `${ended.reason}: ${withoutPromise(ended.message)}`]
      : ended.reason === 'Suspended'
        ? [styled('dim', '–'), ended.message]
        : [styled('green', '✓'), `${ended.message} ${ended.commit?.url ?? ''}`]
  terminal.print(`${mark} ${plainLine(`${about}  ${said.trim()}`)}`)
}

function inJSON({ about, ended }: Ended): object {
  if (ended instanceof Failure)
    return {
      resource: about,
      result: outcomeOf(ended),
      reason: ended.reason,
      message: withoutPromise(ended.message),
    }
  if (ended.reason === 'Suspended') return { resource: about, result: 'good', ...ended }
  const { reason, message, commit, pullRequest, credentialsUsed } = ended
  return { resource: about, result: 'good', reason, message, commit, pullRequest, credentialsUsed }
}
