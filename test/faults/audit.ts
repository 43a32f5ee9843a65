import type { Stored } from '../harness/installation.ts'
import type { Injector } from './inject.ts'
import type { Order, Site } from './site.ts'

/** What is wrong at the end: one sentence for each; empty is what is promised. */
export async function findings(
  { places, plane }: Site,
  orders: readonly Order[],
  { foreign }: Pick<Injector, 'foreign'>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [index, place] of places.entries()) {
    const { repository, hosted, team } = place
    const own = orders.filter((order) => order.place === place)
    const uids = await uidsIn(team.namespace)
    const history = await repository.git('log', 'main', '--format=%s %(trailers:key=Commitlet-Id,valueonly)')
    const lines = history.split('\n').filter((line) => line !== '')
    for (const { name } of own.filter(({ kind }) => kind === 'GitCommit')) {
      const uid = uids.get(`GitCommit ${name}`)
      const times = lines.filter((line) => uid !== undefined && line.includes(`${uid}.`)).length
      if (times !== 1) found.push(`GitCommit ${team.namespace}/${name} is ${times} times in the history.`)
    }
    for (const { name } of own.filter(({ kind }) => kind === 'PullRequest')) {
      const times = hosted.model.pulls.filter(({ head }) => head === name).length
      if (times !== 1) found.push(`PullRequest ${team.namespace}/${name} was opened ${times} times.`)
    }
    for (const subject of foreign.get(index) ?? [])
      if (!lines.some((line) => line.trim() === subject)) found.push(`The commit ${subject} is lost.`)
    found.push(...hosted.api.violations)
  }
  return found

  async function uidsIn(namespace: string): Promise<ReadonlyMap<string, string>> {
    const lists = ['gitcommits', 'pullrequests'].map((plural) =>
      plane.api.need('GET', `/apis/commitlet.dev/v1/namespaces/${namespace}/${plural}`),
    )
    const items = (await Promise.all(lists)).flatMap(
      (list) => (list as { readonly items: readonly (Stored & { readonly kind: string })[] }).items,
    )
    return new Map(items.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.uid]))
  }
}
