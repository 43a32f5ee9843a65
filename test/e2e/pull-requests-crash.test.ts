import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { HostFault } from '../harness/hosts/host-handler.ts'
import { github } from '../harness/hosts/github.ts'
import { install } from '../harness/installation.ts'
import { waitFor } from '../harness/wait.ts'
import { HEAD, hostRepository, makeDue, settledPull, waitForPull } from './pull-request-stage.ts'

const MINUTE = 60_000

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '1' } })
  let running = commitlet.function

  // What happens to the program while the host makes, or after it has made, the pull request.
  const killing = (): void => void process.kill(running.pid, 'SIGKILL')
  const cases: Readonly<Record<string, { readonly fault: HostFault; readonly dies: boolean }>> = {
    'killed while the host opens it': { fault: { kind: 'meanwhile', happens: killing }, dies: true },
    'killed before the answer is read': {
      fault: {
        kind: 'changed',
        change(answer) {
          killing()
          return answer
        },
      },
      dies: true,
    },
    'the answer is lost': { fault: { kind: 'lost answer' }, dies: false },
  }

  for (const [title, { fault, dies }] of Object.entries(cases)) {
    // Killed, and then open: rows of crash-steps.ts.
    for (const meanwhile of dies ? (['merged'] as const) : (['open', 'merged'] as const)) {
      t.test(`${title}, and then the pull request is ${meanwhile}: there is one pull request`, async (t) => {
        const team = await commitlet.createTeam()
        const path = `${team.namespace}/shop`
        const hosted = await hostRepository(commitlet.git, { dialect: github, path })
        await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
        hosted.api.fail(fault, (method) => method === 'POST')
        await team.apply(hosted.pullRequest('shop'))
        await waitFor('pull request at the host', () => hosted.model.pulls[0], MINUTE)
        if (dies) {
          // It has been killed by now: this waits for its end.
          await running.kill()
          const { status } = await team.get('shop', 'pullrequest')
          t.match(status, { phase: 'Progressing', attempts: 1, pullRequest: undefined })
        } else {
          await waitForPull(team, 'shop', 'jsonpath={.status.phase}=Retrying')
        }
        Object.assign(hosted.model.pulls[0] ?? {}, { state: meanwhile })
        if (dies) running = await commitlet.startFunction()
        await makeDue(team, 'shop')
        await waitForPull(team, 'shop', 'condition=Ready')
        const { status } = await settledPull(team, 'shop')
        t.match(status, { phase: 'Succeeded', attempts: 2, pullRequest: { number: 1, state: meanwhile } })
        t.equal(hosted.model.pulls.length, 1)
        t.equal(hosted.writes().length, 1, 'it was not even tried')
        t.strictSame(hosted.api.violations, [])
      })
    }
  }
})
