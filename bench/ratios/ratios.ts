import type { Results } from '../results.ts'
import { STARTERS } from '../start.ts'
import { median, rounded } from '../statistics.ts'
import { burstRatios, replicaRatios } from './bursts.ts'
import { commitRatios } from './commits.ts'
import { compare, type Compared, type Ratio } from './ratio.ts'

/** All ratios of a run, in the order of the table. */
export function ratiosOf(results: Results): readonly Ratio[] {
  return [
    ...startRatios(results),
    ...results.commits.flatMap((one) => commitRatios(one, results.commits)),
    ...burstRatios(results.bursts),
    ...replicaRatios(results.replicas),
    ...admissionRatios(results),
    ...pullRequestRatios(results),
  ].map(compare)
}

function startRatios({ starts, bursts }: Results): readonly Compared[] {
  const bare = starts.find(({ starter }) => starter === 'bare')
  const own = starts.filter(({ starter }) => starter !== 'bare')
  const singles = bursts.filter(({ engine, replicas }) => engine === 'direct' && replicas === 1)
  const [first, second] = [singles.map((one) => one.first.median), singles.map((one) => one.second.median)]
  return [
    ...own.flatMap(({ starter, took, residentMB }) => {
      const { title } = STARTERS[starter]
      const against = { baseline: STARTERS.bare.title }
      return bare === undefined
        ? []
        : [
            { ...against, id: `start/${starter}/time`, title, value: took, unit: 'ms', base: bare.took },
            {
              ...against,
              id: `start/${starter}/memory`,
              title: `${title}, resident`,
              value: residentMB,
              unit: 'MB',
              base: bare.residentMB,
            },
          ]
    }),
    ...(first.length === 0
      ? []
      : [
          {
            id: 'start/first-commit',
            title: 'first commit of a process',
            value: rounded(median(first)),
            unit: 'ms',
            baseline: 'its second',
            base: rounded(median(second)),
          },
        ]),
  ]
}

function admissionRatios({ admission }: Results): readonly Compared[] {
  const baselines = { bare: 'bare node:https', without: 'without admission' } as const
  return admission.flatMap(({ call, p50, p99 }) => {
    const against = call === 'creation' ? 'without' : 'bare'
    const base = admission.find((one) => one.call === against)
    if (call === 'bare' || call === 'without' || base === undefined) return []
    const id = `admission/${call.replace(/^\/|,.*/g, '')}${call.includes('each') ? '-reviewed' : ''}`
    const named = { title: `admission: ${call}`, unit: 'ms', baseline: baselines[against] }
    return [
      { ...named, id: `${id}/p50`, title: `${named.title}, p50`, value: p50, base: base.p50 },
      { ...named, id: `${id}/p99`, title: `${named.title}, p99`, value: p99, base: base.p99 },
    ]
  })
}

/** Each takes two requests where nothing is in the way: find, then create. */
const REQUESTS_EACH = 2

function pullRequestRatios({ pullRequests }: Results): readonly Compared[] {
  const [without, run] = [false, true].map((wanted) =>
    pullRequests.find(({ remembers }) => remembers === wanted),
  )
  if (without === undefined || run === undefined) return []
  const each = ({ requests, opened }: typeof run): number => rounded(requests / opened)
  const named = {
    title: 'pull requests at a limited host: requests',
    value: each(run),
    unit: 'each',
  }
  return [
    {
      ...named,
      id: 'pull-requests/limits',
      baseline: 'limits not remembered',
      base: each(without),
    },
    { ...named, id: 'pull-requests/floor', baseline: 'floor: find and create', base: REQUESTS_EACH },
  ]
}
