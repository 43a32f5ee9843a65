import { waitFor } from '../../test/harness/wait.ts'
import type { StoryStage } from './stage.ts'

/** One act of the story: shows something, or throws one sentence. */
type Act = (stage: StoryStage) => Promise<void>

const PUSHED_MS = 20_000
async function applies({ print, read, apply, succeeded }: StoryStage): Promise<void> {
  print.title('1  Apply a ConfigMap, and a GitCommit that says what to commit')
  print.yaml(await read('1-shop.yaml'))
  demand(await apply('1-shop.yaml'))
  const { message, milliseconds } = await succeeded('GitCommit', 'shop')
  print.done(`${message} ${inTime(milliseconds)}`)
}

async function shows({ print, site }: StoryStage): Promise<void> {
  const show = (...args: readonly string[]): Promise<string> =>
    site.repository.git('show', `--color=${print.colour ? 'always' : 'never'}`, ...args)
  print.title('2  One commit: a field of the ConfigMap, a value edited in place, a file removed')
  const format = '%C(auto)%h %s%n%(trailers:key=Requested-by)'
  print.prompt(`git show --compact-summary --format='${format}'`)
  const summary = await show('--compact-summary', `--format=${format}`, 'main')
  print.line(summary.replace(/\n{2,}/, '\n'))
  print.prompt('git show -U0 -- values.yaml | tail -n 2')
  const diff = await show('--format=', '-U0', 'main', '--', 'values.yaml')
  print.line(diff.split('\n').slice(-2).join('\n'))
}

async function follows({ print, change, stored, succeeded }: StoryStage): Promise<void> {
  const before = stored('GitCommit', 'shop').status?.commit?.sha
  print.line('  The ConfigMap changes: sync: OnChange commits it again.')
  await change('2-summer.yaml')
  const { message, milliseconds } = await succeeded('GitCommit', 'shop', before)
  print.done(`${message} ${inTime(milliseconds)}`)
}

async function delivers({ print, apply, succeeded }: StoryStage): Promise<void> {
  print.title('3  A pull request, on a stand-in for GitHub; and what the webhook denies')
  demand(await apply('3-delivery.yaml'))
  const commit = await succeeded('GitCommit', 'delivery')
  print.done(`${commit.message} ${inTime(commit.milliseconds)}`)
  demand(await apply('4-pull-request.yaml'))
  const pull = await succeeded('PullRequest', 'delivery')
  print.done(`${pull.message} ${inTime(pull.milliseconds)}`)
  const denial = await apply('5-password.yaml')
  if (denial === undefined) throw new Error('The webhook has admitted a GitCommit of a Secret.')
  print.refused(denial)
}

async function crashes(stage: StoryStage): Promise<void> {
  const { print, site, apply, stored, succeeded } = stage
  print.title('4  kill -9 between the push and the status')
  const released = Promise.withResolvers<undefined>()
  const target = { repository: site.repository.name, exchange: 'receive-pack' } as const
  const release = site.server.faults.add({ kind: 'hold', when: 'after', until: released.promise }, target)
  const before = await site.repository.git('rev-parse', 'main')
  demand(await apply('6-opening.yaml'))
  const moved = async (): Promise<string | undefined> => {
    const tip = await site.repository.git('rev-parse', 'main')
    return tip === before ? undefined : tip
  }
  const tip = await waitFor('pushed commit', moved, PUSHED_MS)
  const phase = stored('GitCommit', 'opening').status?.phase ?? ''
  print.line(`  Commit ${tip.slice(0, 12)} is pushed, but the status still says ${phase}.`)
  print.prompt(`kill -9 ${stage.function().pid}`)
  await stage.function().kill()
  release()
  released.resolve(undefined)
  await stage.startAgain()
  print.line(
    "  A new function starts; the cluster's clock jumps ahead until the dead one's claim has lapsed.",
  )
  const { resource, message } = await succeeded('GitCommit', 'opening')
  const commits = await commitsOf(stage, resource.metadata.uid)
  if (commits.join() !== tip) throw new Error(`There are ${commits.length} commits instead of one.`)
  print.done(`${message} One commit, found again in attempt ${resource.status?.attempts ?? 0}.`)
}

async function sums(stage: StoryStage): Promise<void> {
  const { print, host } = stage
  const pulls = host.pulls.length
  const names = ['shop', 'delivery', 'opening']
  const commits = await Promise.all(
    names.map((name) => commitsOf(stage, stage.stored('GitCommit', name).metadata.uid)),
  )
  print.title('5  The sum')
  const made = `${names.length} GitCommits, 1 change: ${commits.flat().length} commits. 1 PullRequest: ${pulls} pull request.`
  print.done(`${made} 1 crash: nothing lost, nothing made twice.`)
  print.line('  Next: npm run demo -- --verbose shows each step, -- --cluster does it on a real API server.')
}

/** In the order in which they are played: each can rely on those before it, and goes on under its title if it has none. */
export const ACTS: readonly Act[] = [applies, shows, follows, delivers, crashes, sums]

/** The commits that carry the id of a resource. */
async function commitsOf({ site }: StoryStage, uid: string): Promise<readonly string[]> {
  const names = await site.repository.git('log', '--all', '--format=%H', `--grep=^Commitlet-Id: ${uid}.`)
  return names.split('\n').filter((name) => name !== '')
}

function demand(denial: string | undefined): void {
  if (denial !== undefined) throw new Error(`The webhook denied it: ${denial}`)
}

function inTime(milliseconds: number): string {
  return `(${(milliseconds / 1000).toFixed(1)} s)`
}
