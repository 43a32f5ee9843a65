import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sample } from './harness/sample.ts'

// Only refusals before tap starts: a tap inside of tap would empty the folder of the outer one.
t.test('a run that is not possible is refused with one sentence', (t) => {
  const rows: [string, string[], Record<string, string>, RegExp][] = [
    ['an unknown flag', ['--fast'], {}, /^--fast is not known\.\nnpm test -- \[--unit\]/],
    [
      'a control plane that has to be there',
      ['--require-control-plane'],
      { PATH: '/nowhere' },
      /There is no control plane: There is no kubectl/,
    ],
    [
      'a control plane that does not start',
      ['--require-control-plane'],
      {
        TEST_ASSET_KUBECTL: '/bin/sh',
        TEST_ASSET_ETCD: '/bin/false',
        TEST_ASSET_KUBE_APISERVER: '/bin/false',
      },
      /There is no control plane: The control plane did not start/,
    ],
  ]
  for (const [what, args, env, sentence] of sample(rows, () => 'a refusal')) {
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), ...args], {
      env,
      encoding: 'utf8',
    })
    t.match({ status, stderr }, { status: 1, stderr: sentence }, what)
  }
  t.end()
})

t.test('every file of test/e2e asks for a control plane', (t) => {
  const files = globSync('e2e/*.test.ts', { cwd: import.meta.dirname })
  t.ok(files.length > 0)
  for (const file of files) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    t.match(text, /^ *(?:await )?with(?:ControlPlane|Commitlet)\(/m, file)
  }
  t.end()
})
