import type { Cluster, ListedResource } from '../cluster.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import type { Phase } from '../../domain/resource/stored-status.ts'

/** The resources that a walk visits: of one kind, in one phase or in any; `follows`: only followers. */
export interface Scope {
  readonly kind: Kind
  readonly phase: Phase | undefined
  readonly follows?: true
}

/** What the walk does with a page, and for which namespaces it reads pages of their own. */
export interface Visitor {
  readonly visit: (rows: readonly ListedResource[]) => Promise<void>
  readonly hasRoom: (namespace: string) => boolean
  readonly signal: AbortSignal
}

/**
 * Visits the resources of a scope, round by round, at a cost that does not grow with the backlog of a few namespaces. A
 * namespace whose rows weigh more than `LARGE_ROWS`, and than all others together so far, is left out of the common list from
 * then on and has a list of its own, of which each round reads a bounded part. A round that fails goes on where it was.
 */
export interface Walk {
  /** Visits all resources except those of large namespaces. Throws the Failure of a page. */
  readonly common: (visitor: Visitor) => Promise<void>
  /**
   * Visits the next pages of the large namespaces that have room, one page of each in turn. A page after which there is
   * none is visited again by the next round. Whether it has come to the end of all their lists.
   */
  readonly large: (visitor: Visitor) => Promise<boolean>
}

/** Ten pages: below that, a list of its own saves nothing. */
const LARGE_ROWS = 500
const PAGE_ROWS = 50
/** As many names of 63 characters as fit into an address of 8 KiB, the usual limit of a proxy. */
const MOST_LARGE = 64

/**
 * One run over a list. Its query stays the same until the end, as continue tokens require. `weights`: of the rows of each
 * namespace so far.
 */
interface Pass {
  readonly except: readonly string[]
  readonly weights: Map<string, number>
  next: string | undefined
  hasFailed: boolean
}

/**
 * Makes a walk that has not begun. `ownPages`: how many pages of all large namespaces together a round reads; one of
 * heavy rows counts as several.
 */
export function makeWalk(cluster: Pick<Cluster, 'listPage'>, scope: Scope, ownPages: number): Walk {
  const { kind, ...selected } = scope
  const own = new Map<string, Pass>()
  // Made when it begins: until then a namespace may stop being large.
  let pass: Pass | undefined

  async function common({ visit, signal }: Visitor): Promise<void> {
    while (!signal.aborted) {
      pass ??= makePass([...own.keys()])
      const rows = await readNext(pass)
      await visit(rows)
      const isOver = pass.next === undefined
      const large = isOver || own.size === MOST_LARGE ? undefined : largeIn(pass, rows)
      if (large !== undefined) own.set(large, makePass([]))
      if (isOver || large !== undefined) pass = undefined
      if (isOver) return
    }
  }

  async function large({ visit, hasRoom, signal }: Visitor): Promise<boolean> {
    let pages = 0
    let isComplete = true
    for (let names = [...own.keys()]; names.length > 0;) {
      const unfinished: string[] = []
      for (const namespace of names.filter(hasRoom)) {
        if (signal.aborted || pages >= ownPages) return false
        const before = placeIn(own.get(namespace))
        const rows = await readOwn(namespace)
        pages += Math.max(1, sum(rows.map(({ weight }) => weight)) / PAGE_ROWS)
        await visit(rows)
        // Some rows may have had no room: the next round begins with this page.
        if (!hasRoom(namespace) && own.has(namespace)) {
          own.set(namespace, before)
          isComplete = false
        }
        if (own.get(namespace)?.next !== undefined) unfinished.push(namespace)
      }
      names = unfinished
    }
    return isComplete
  }

  async function readOwn(namespace: string): Promise<readonly ListedResource[]> {
    const list = own.get(namespace) ?? makePass([])
    // Moved to the end, so that the next round begins with another one.
    own.delete(namespace)
    own.set(namespace, list)
    const rows = await readNext(list, namespace)
    if (list.next !== undefined) return rows
    if (sum(list.weights.values()) > LARGE_ROWS / 2) own.set(namespace, makePass([]))
    else own.delete(namespace)
    return rows
  }

  async function readNext(list: Pass, namespace?: string): Promise<readonly ListedResource[]> {
    try {
      const page = await cluster.listPage(kind, {
        ...selected,
        namespace,
        except: list.except,
        next: list.next,
      })
      list.next = page.next
      list.hasFailed = false
      for (const { ref, weight } of page.rows)
        list.weights.set(ref.namespace, (list.weights.get(ref.namespace) ?? 0) + weight)
      return page.rows
    } catch (error) {
      // A page that cannot be read twice in a row is given up: the list begins again.
      if (list.hasFailed) {
        list.next = undefined
        list.weights.clear()
      }
      list.hasFailed = !list.hasFailed
      throw error
    }
  }

  return { common, large }
}

function makePass(except: readonly string[]): Pass {
  return { except, weights: new Map(), next: undefined, hasFailed: false }
}

/** The same place of a list, for later. */
function placeIn(pass = makePass([])): Pass {
  return { ...pass, weights: new Map(pass.weights) }
}

/** A namespace of this page whose rows so far cost more than to begin again without it. */
function largeIn({ weights }: Pass, page: readonly ListedResource[]): string | undefined {
  const last = page.at(-1)?.ref.namespace ?? ''
  const ofLast = weights.get(last) ?? 0
  return ofLast > LARGE_ROWS && ofLast * 2 > sum(weights.values()) ? last : undefined
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0)
}
