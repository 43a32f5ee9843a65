/** The folder of the hooks, in a workspace. */
export const HOOKS = 'hooks'

/** What the hook writes where a push comes too late. */
export const TOO_LATE = 'commitlet: the claim of these commits has ended'

/** What the hook writes where Git would move another ref. */
export const OTHER_REF = 'commitlet: Git takes another ref for this branch'

/**
 * Git's pre-push hook: it runs once the remote has said where the branch is, and before anything is sent (githooks(5)).
 * Where COMMITLET_REF is missing on the remote, Git takes a ref whose full name only ends with it (git-push(1),
 * "<refspec>"). A git outlives a parent that is held up, and must not push then: COMMITLET_UNTIL and /proc/uptime are
 * seconds since the machine was started, which no clock setting changes.
 */
export const PUSH_HOOK = `#!/bin/sh
while read -r local oid remote rest; do
  [ "$remote" = "$COMMITLET_REF" ] && continue
  echo "${OTHER_REF}" >&2
  exit 1
done
[ -z "$COMMITLET_UNTIL" ] && exit 0
IFS=. read -r now rest </proc/uptime
[ "$now" -lt "$COMMITLET_UNTIL" ] && exit 0
echo "${TOO_LATE}" >&2
exit 1
`
