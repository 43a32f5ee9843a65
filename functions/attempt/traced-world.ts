import type { Cluster } from '../cluster/cluster.ts'
import { inSpan, type Span } from '../domain/telemetry/tracer.ts'
import type { World } from '../world.ts'

/** The same World for one attempt: what is called through it is a child of the attempt's span. */
export function traceWorld(world: World, span: Span): World {
  if (!span.recording) return { ...world, span }
  return {
    ...world,
    span,
    cluster: traceCluster(world.cluster, span),
    takeTurn: (...of) => inSpan(span, 'wait', () => world.takeTurn(...of)),
    push: (change, login, attempt) =>
      inSpan(span, 'push', (child) => world.push(change, login, { ...attempt, span: child })),
    find: (change, login, attempt) =>
      inSpan(span, 'search', (child) => world.find(change, login, { ...attempt, span: child })),
    withPullRequests: (target, by, work) =>
      inSpan(span, 'pull request', (child) => world.withPullRequests(target, { ...by, span: child }, work)),
  }
}

function traceCluster(cluster: Cluster, span: Span): Cluster {
  return {
    ...cluster,
    discover: (...of) => inSpan(span, 'discover', () => cluster.discover(...of)),
    reviewAccess: (...of) => inSpan(span, 'review access', () => cluster.reviewAccess(...of)),
    readObject: (...of) => inSpan(span, 'read object', () => cluster.readObject(...of)),
    readSecret: (...of) => inSpan(span, 'read Secret', () => cluster.readSecret(...of)),
    patchStatus: (...of) => inSpan(span, 'write status', () => cluster.patchStatus(...of)),
  }
}
