import t from 'tap'
import { configurationName } from './commitlet.ts'
import { startControlPlane, withControlPlane } from './control-plane.ts'
import { configMap, gitCommit, install } from './installation.ts'
import { createTeam } from './team.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'

withControlPlane(t, async (t, plane) => {
  const other = await startControlPlane()
  if ('missing' in other || other.file === undefined) {
    t.pass('a shared control plane', { skip: 'This file runs without test/run.ts.' })
    return
  }
  const neighbour = await createTeam(other)

  t.test('the webhook of one test file is not called for the namespaces of another', async (t) => {
    await install(t, plane)
    await neighbour.apply(gitCommit('theirs', REPOSITORY))
    t.notOk((await neighbour.get('theirs')).metadata.annotations, 'no webhook has stamped it')
  })

  t.test('what sweeps find in the namespaces of another file is not attempted', async (t) => {
    const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '1' } })
    const found = (line: string): boolean => /"events":[1-9].*"swept"|"swept".*"events":[1-9]/.test(line)
    await commitlet.webhook.waitForLine(found)
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap(), gitCommit('ours', repository.url))
    t.match((await team.settled('ours')).status, { phase: 'Succeeded' })
    t.match((await neighbour.get('theirs')).status, { phase: 'Pending' })
    t.notMatch(commitlet.function.lines.join('\n'), neighbour.namespace)
  })

  t.test('at its end a file removes its webhooks and what sweeps would find', async (t) => {
    const [name, path] = [configurationName(plane), '/apis/admissionregistration.k8s.io/v1']
    const read = (kind: string) => plane.api.ask('GET', `${path}/${kind}webhookconfigurations/${name}`)
    for (const kind of ['mutating', 'validating']) t.equal((await read(kind)).status, 200, kind)
    await plane.stop()
    for (const kind of ['mutating', 'validating']) t.equal((await read(kind)).status, 404, kind)
    t.equal((await neighbour.get('theirs')).metadata.name, 'theirs', 'and nothing of another')
    await other.stop()
    await t.rejects(neighbour.get('theirs'), /404/)
  })
})
