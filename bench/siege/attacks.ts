import type { Attack } from './attack.ts'
import { busySource } from './attacks/busy-source.ts'
import { chunkedAnswers } from './attacks/chunked-answers.ts'
import { functionBodies, webhookBodies } from './attacks/chunked-bodies.ts'
import { dueResources } from './attacks/due-resources.ts'
import { endlessRefs } from './attacks/endless-refs.ts'
import { eventFlood } from './attacks/event-flood.ts'
import { hangingServers } from './attacks/hanging-servers.ts'
import { hostileKeys } from './attacks/hostile-keys.ts'
import { remoteLines } from './attacks/remote-lines.ts'
import { resourceChurn } from './attacks/resource-churn.ts'
import { silentConnections } from './attacks/silent-connections.ts'
import { slowCertificates } from './attacks/slow-certificates.ts'
import { specFlips } from './attacks/spec-flips.ts'
import { sshRequests } from './attacks/ssh-requests.ts'

/** All attacks of the siege. */
export const ATTACKS: readonly Attack[] = [
  functionBodies,
  webhookBodies,
  eventFlood,
  hangingServers,
  hostileKeys,
  chunkedAnswers,
  endlessRefs,
  remoteLines,
  sshRequests,
  dueResources,
  resourceChurn,
  specFlips,
  silentConnections,
  busySource,
  slowCertificates,
]
