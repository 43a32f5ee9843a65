import { keepAll } from '../../functions/domain/pull-request/choice.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type {
  Branches,
  PullRequestDetails,
  PullRequestDraft,
  PullRequests,
  PullRequestText,
  ShownPullRequest,
} from '../../functions/domain/pull-request/pull-requests.ts'

/** A pull request in the memory of the host. */
export interface HeldPullRequest extends PullRequestText {
  readonly number: number
  readonly branches: Branches
  readonly draft: boolean
  readonly state: ShownPullRequest['state']
  readonly details: PullRequestDetails
}

/** The pull requests of one repository in memory: one is open for the same branches at most. */
export interface MemoryPullRequests extends PullRequests {
  readonly held: HeldPullRequest[]
  /** The verbs that were called, in their order, such as `find open`. */
  readonly calls: string[]
  /** Called before each verb; where it throws, nothing is done. */
  before: (verb: string) => void
  /** Called after each verb; where it throws, the change is made and the answer lost. */
  after: (verb: string) => void
  /** Labels and people that the host knows. */
  readonly known: Set<string>
  /** Adds one, as another user would open it. */
  hold(more?: Partial<HeldPullRequest>): HeldPullRequest
  /** Changes the one with this number, as people do. */
  change(number: number, more: Partial<HeldPullRequest>): void
}

const BRANCHES: Branches = { base: 'main', head: 'feature', headOwner: undefined }

/** Makes an empty one. */
export function memoryPullRequests(): MemoryPullRequests {
  const held: HeldPullRequest[] = []
  const calls: string[] = []

  async function call<T>(verb: string, work: () => T): Promise<T> {
    calls.push(verb)
    host.before(verb)
    const result = work()
    host.after(verb)
    return result
  }

  const host: MemoryPullRequests = {
    held,
    calls,
    before: () => undefined,
    after: () => undefined,
    known: new Set(['settings', 'urgent', 'dev', 'ops']),
    hold(more = {}) {
      const details = { labels: [], reviewers: [], assignees: [] }
      const text = { title: 'By hand', body: '' }
      const one = { ...text, branches: BRANCHES, draft: false, state: 'open', details, ...more } as const
      const opened = { ...one, number: held.length + 1 }
      held.push(opened)
      return opened
    },
    change(number, more) {
      held.splice(number - 1, 1, { ...one(number), ...more })
    },
    find: (branches, among, keep = keepAll) =>
      call(`find ${among}`, () => {
        const found = held.filter(
          (pull) => sameBranches(pull.branches, branches) && (among === 'all' || pull.state === 'open'),
        )
        return keep(found.toReversed().map(shown))
      }),
    read: (number, branches) =>
      call(`read ${number}`, () => {
        const found = held[number - 1]
        return found !== undefined && sameBranches(found.branches, branches) ? shown(found) : undefined
      }),
    create: (draft) => call('create', () => (isOpen(draft) ? 'exists' : shown(host.hold(draft)))),
    update: ({ number }, { title, body }) =>
      call(`update ${number}`, () => host.change(number, { title, body })),
    add: (number, detail, names) => call(`add ${detail}`, () => add(number, detail, names)),
  }
  return host

  function one(number: number): HeldPullRequest {
    const found = held[number - 1]
    if (found === undefined) throw new Failure('Internal', `There is no #${number}.`)
    return found
  }

  function isOpen({ branches }: PullRequestDraft): boolean {
    return held.some((pull) => pull.state === 'open' && sameBranches(pull.branches, branches))
  }

  function add(
    number: number,
    detail: keyof PullRequestDetails,
    names: readonly string[],
  ): readonly string[] {
    const { details } = one(number)
    const added = names.filter((name) => host.known.has(name))
    host.change(number, { details: { ...details, [detail]: [...new Set([...details[detail], ...added])] } })
    return names.filter((name) => !host.known.has(name)).map((name) => `The host does not know ${name}.`)
  }
}

function shown({ number, title, body, state }: HeldPullRequest): ShownPullRequest {
  return { number, title, body, state, url: `https://git.example.com/acme/shop/pulls/${number}` }
}

function sameBranches(one: Branches, other: Branches): boolean {
  return one.base === other.base && one.head === other.head && one.headOwner === other.headOwner
}
