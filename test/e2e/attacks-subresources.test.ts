import t from 'tap'
import { gitCommit } from '../harness/installation.ts'
import { applyAs, kubectlApplyAs } from '../harness/rights.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { attemptsAt, stageTenant, TENANT } from './tenant-stage.ts'

withCommitlet(t, async (t, commitlet) => {
  t.test('a dry run gets the same answer, and no event', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    const dry = await kubectlApplyAs(team, TENANT, gitCommit('dry', repository.url), '--dry-run=server')
    t.match(dry, { code: 0, stdout: 'created (server dry run)' })
    await applyAs(team, TENANT, gitCommit('wet', repository.url))
    await team.settled('wet')
    t.equal(await attemptsAt(commitlet, team), 1)
    const heard = [...commitlet.webhook.lines, ...commitlet.function.lines]
    t.notOk(heard.some((line) => line.includes('"dry"') && line.includes(team.namespace)))
    await team.kubectl([
      'patch',
      'gitcommit',
      'wet',
      '--type=merge',
      '-p',
      '{"spec":{"message":"Dry"}}',
      '--dry-run=server',
    ])
    t.equal((await team.get('wet')).metadata.generation, 1)
  })

  t.test('a tenant cannot write a status, whatever their rights in their namespace', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    await applyAs(team, TENANT, gitCommit('shop', repository.url))
    const before = await team.settled('shop')
    const forged = '{"status":{"phase":"Pending","observedGeneration":-1}}'
    for (const type of ['merge', 'json']) {
      const patch = type === 'json' ? '[{"op":"replace","path":"/status/phase","value":"Pending"}]' : forged
      const { code, stderr } = await team.kubectl(
        [
          'patch',
          'gitcommit',
          'shop',
          '--subresource=status',
          `--type=${type}`,
          '-p',
          patch,
          `--as=${TENANT}`,
        ],
        { allowFailure: true },
      )
      t.equal(code, 1, type)
      t.match(stderr, /commitlet-status.*denied request: .*status/)
    }
    const whole = JSON.stringify({ ...before, status: { ...before.status, phase: 'Retrying' } })
    await team.kubectl(['replace', '-f', '-', `--as=${TENANT}`], { input: whole })
    t.same((await team.get('shop')).status, before.status, 'beside the spec a status is not even looked at')
    t.equal(await attemptsAt(commitlet, team), 1)
  })

  t.test('there are no other subresources to bypass the checks with', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    await applyAs(team, TENANT, gitCommit('shop', repository.url))
    await team.settled('shop')
    const scaled = await team.kubectl(['scale', 'gitcommit', 'shop', '--replicas=2', `--as=${TENANT}`], {
      allowFailure: true,
    })
    t.equal(scaled.code, 1)
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits/shop`
    for (const subresource of ['scale', 'finalize', 'spec', 'log']) {
      const { stderr } = await team.kubectl(['get', '--raw', `${path}/${subresource}`], {
        allowFailure: true,
      })
      t.match(stderr, /NotFound|could not find the requested resource/, subresource)
    }
  })
})
