import type { Burst } from '../burst/burst.ts'
import { CONTENDERS } from '../commit/measure.ts'
import { counted } from '../ratios/titles.ts'
import type { Results } from '../results.ts'
import { markdownTable, picture, shown } from './markdown.ts'
import {
  sizeTable,
  roundTripTable,
  contendersTable,
  burstTable,
  replicasTable,
  startTable,
  admissionTable,
  pullRequestTable,
  ratioTable,
} from './tables.ts'

/** docs/performance.md for a run, with the charts of these names. */
export function pageOf(results: Results, charts: readonly string[]): string {
  const chart = (name: string, title: string): string => (charts.includes(name) ? picture(name, title) : '')
  const sections = [
    introduction(results),
    oneGitCommit(results),
    section('One commit, by the size of the repository', results.commits.length > 0, [
      `What the Git writer takes for one change of one file over HTTPS, without Kubernetes. *Warm*: this process has written
to the branch before. *Cold*: nothing is connected or remembered. The floor is what the Git server itself needs for the
requests.`,
      chart('commit-by-size', 'Time of one commit by the size of the repository'),
      sizeTable(results.commits),
      contendersTable(results.commits),
    ]),
    section(
      'One commit, by round-trip time',
      results.commits.some(({ roundTripMs }) => roundTripMs > 0),
      [
        `The same with the repository of 10,000 files behind a proxy that delays every byte. The floor is the time at 0 ms plus
all round trips: requests, and two for each connection (TCP and TLS).`,
        chart('commit-by-round-trip', 'Time of one commit by round-trip time'),
        roundTripTable(results.commits),
      ],
    ),
    section('Many GitCommits at once', results.bursts.length > 0, [
      `Applied by 32 clients to a repository of 10,000 files, each GitCommit with a path of its own, by one function. Time is
from the first apply until the last is Ready; the percentiles are from stored to Ready. Memory is the function's
resident memory at its peak (${shown(restOf(results.bursts))} MB before the work). Counts are for each GitCommit.`,
      chart('burst-rate', 'GitCommits per second by how many are applied at once'),
      chart('burst-latency', 'Time from stored to Ready by how many are applied at once'),
      burstTable(results.bursts),
    ]),
    section('Replicas', results.replicas.length > 0, [
      `200 GitCommits whose events go to each replica in turn, which is the worst case for one branch: all replicas push to it.
Everything shares the same processors here, so more replicas cannot be faster; the figures show what the races cost. The webhook sends at most 64 events of one
namespace at a time, so that each of eight replicas has eight of them; a Broker sends all that it has.`,
      chart('replicas', 'Seconds for 200 GitCommits by the number of replicas'),
      replicasTable(results.replicas),
    ]),
    section('Cold start', results.starts.length > 0, [
      `From the start of the process to its first answer. The image uses the code cache.`,
      chart('start', 'Time from the start of the process to the first answer'),
      startTable(results),
    ]),
    section('Admission', results.admission.length > 0, [
      `50 requests a second at fixed times. \`bare\` is a \`node:https\` server that decides nothing; \`creation\` is a GitCommit that
is created on a real API server, and \`without\` the same without Commitlet's webhooks.`,
      admissionTable(results),
    ]),
    section('Pull requests', results.pullRequests.length > 0, [
      `200 PullRequests for 20 repositories, applied at once, at a host that allows 50 requests a minute to one token.`,
      pullRequestTable(results),
    ]),
    section('All ratios', true, [
      `Smaller is better. \`npm run bench -- --short\` fails in CI when a ratio is above its bound.`,
      ratioTable(results),
    ]),
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

function section(title: string, isMeasured: boolean, parts: readonly string[]): string {
  return isMeasured ? [`## ${title}`, ...parts.filter((part) => part !== '')].join('\n\n') : ''
}

function introduction({ conditions, skipped }: Results): string {
  const missing = skipped.map((what) => `\n\nNot measured: ${what}.`).join('')
  const { date, node, processor, cores, load, minutes } = conditions
  return `# Performance

\`npm run bench\` has measured this page and its charts; do not edit them. Last run: ${date}, Node ${node}, ${cores} cores (${processor}),
load average ${load[0]} before and ${load[1]} after, ${shown(minutes)} minutes. The API server, etcd, the Git server, both programs and
the clients share these cores, and everything is on one machine: the network costs nothing unless a round-trip time is
given. Trust the ratios more than the milliseconds: each is against a baseline of the same run.${missing}`
}

function oneGitCommit({ bursts }: Results): string {
  const singles = bursts.filter(({ commits }) => commits === 1)
  const [usual] = singles.filter(({ engine, files }) => engine === 'direct' && files > 1)
  if (usual === undefined) return ''
  const rows = singles.map((one) => [
    `${one.engine === 'direct' ? CONTENDERS.warm : CONTENDERS.binary}, ${counted(one.files, 'file')}`,
    one.toRef === undefined ? '' : shown(one.toRef.median),
    shown(one.p50),
    shown(one.p99),
    shown(one.gitRequests),
    shown(one.functionCalls),
  ])
  const calls = Object.entries(usual.calls).map(([call, count]) => `\`${call}\` ${shown(count)}`)
  return section('One GitCommit', true, [
    `A GitCommit of a ConfigMap with a Secret, on a real API server, by a function that has worked before. Milliseconds from
the stored GitCommit to the moved branch on the Git server, and to Ready.`,
    markdownTable(['', 'to the branch, ms', 'to Ready, ms', 'p99, ms', 'Git requests', 'API calls'], rows),
    `The function's calls of the API server, of one GitCommit: ${calls.join(', ')}. Access reviews are remembered for some
seconds, so GitCommits of the same requester that follow each other share them.`,
  ])
}

function restOf(bursts: readonly Burst[]): number {
  return bursts.find(({ engine }) => engine === 'direct')?.restMB ?? 0
}
