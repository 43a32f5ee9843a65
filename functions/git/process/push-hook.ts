/** The folder of the hooks, in a workspace. */
export const HOOKS = 'hooks'

/** What the hook writes where a push comes too late. */
export const TOO_LATE = 'commitlet: the claim of these commits has ended'

/**
 * Git's pre-push hook: it runs once the remote has said where the branch is, and before anything is sent (githooks(5)). A
 * git outlives a parent that is held up, and must not push then. COMMITLET_UNTIL and /proc/uptime are seconds since the
 * machine was started, which no clock setting changes.
 */
export const PUSH_HOOK = `#!/bin/sh
IFS=. read -r now rest </proc/uptime
[ "$now" -lt "$COMMITLET_UNTIL" ] && exit 0
echo "${TOO_LATE}" >&2
exit 1
`
