/** Where a container finds whether the kernel ends all of it at once (cgroup v2). */
const OOM_GROUP = '/sys/fs/cgroup/memory.oom.group'

/**
 * The launcher, a POSIX shell script. `timeout` (coreutils) creates a process group and kills all of it at the
 * deadline. It forwards a signal that ends it (SIGINT from simple-git's abort, SIGTERM from the kernel when the parent
 * has ended) to the group, and kills what is left 2 seconds later. A file that exceeds its size limit causes a write
 * error, which git can report, rather than a signal (setrlimit(2)). Of the processor only the soft limit is set: at the
 * hard one a process is killed as the kernel kills one for memory. The inner shell is there because simple-git passes on
 * an exit code, but no signal, and waits for git whatever signal it gets itself.
 *
 * The first line that it writes is the number of that group, for `readGroup`: a signal that comes while `timeout` begins its command
 * ends `timeout` alone (coreutils 9.1). Besides, simple-git waits 50 ms longer for a process that has written nothing.
 *
 * Where the kernel ends one process of a container, git is the one, rather than Commitlet. Where it ends all of it, git
 * must not be the first on a node that has no memory left.
 */
export function launcherScript(oomGroup = OOM_GROUP): string {
  return `#!/bin/sh
echo "$$" >&2
[ -z "$COMMITLET_LOGIN" ] || { IFS= read -r GIT_CONFIG_VALUE_0 && IFS= read -r GIT_CONFIG_VALUE_1 && export GIT_CONFIG_VALUE_0 GIT_CONFIG_VALUE_1; }
[ -z "$COMMITLET_FILE" ] || { trap '' XFSZ; ulimit -f "$COMMITLET_FILE"; }
ulimit -d "$COMMITLET_MEMORY"
ulimit -S -t "$COMMITLET_CPU"
ulimit -c 0
{ read -r together <"${oomGroup}"; } 2>/dev/null
[ "$together" = 1 ] || echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec nice -n 10 setpriv --pdeathsig TERM timeout -s KILL -k 2 "$COMMITLET_DEADLINE" sh -c 'trap : INT TERM; git "$@"; exit $?' git "$@"
`
}
