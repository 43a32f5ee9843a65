import type { PullRequests } from '../domain/pull-requests.ts'

export default function connect(): PullRequests {
  throw new Error('not yet')
}
