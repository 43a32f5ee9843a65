import t from 'tap'
import { COMMANDS } from '../../../cli/commands/table.ts'
import { run } from '../../../cli/commands/run.ts'
import type { Terminal } from '../../../cli/terminal/terminal.ts'
import { commitlet } from '../stage.ts'

t.test('help of all commands, and of each', async (t) => {
  const { code, stdout } = await commitlet(['--help'])
  t.equal(code, 0)
  for (const { name, about } of COMMANDS)
    t.match(stdout, new RegExp(`^  ${name} +${about.slice(0, 20)}`, 'm'))
  t.match(stdout, /Exit codes:\n {2}0 {2}/)
  for (const { name, examples, options } of COMMANDS) {
    const help = await commitlet([name, '--help'])
    t.equal(help.code, 0)
    t.match(help.stdout, `Usage: commitlet ${name} [options]`)
    for (const [line] of examples) t.match(help.stdout, line)
    for (const option of options) t.match(help.stdout, `--${option.name}`)
  }
  t.match(await commitlet(['help', 'check']), { code: 0, stdout: /Usage: commitlet check/ })
})

t.test('the version, and nothing', async (t) => {
  t.same(await commitlet(['--version']), { code: 0, stdout: '1.2.3\n', stderr: '' })
  t.match(await commitlet([]), { code: 2, stdout: /Commands:/, stderr: /No command/ })
})

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['chek', /Unknown command 'chek'.*check/],
  ['check --filenam x', /Unknown option '--filenam'.*--filename/],
  ['check -o yaml', /'yaml' is invalid.*text, json/],
  ['check -f', /argument missing/],
  ['check', /Name one object/],
  ['check a -f b', /not both/],
  ['check x --kubeconfig /none', /--kubeconfig is "\/none"/],
  ['completion powershell', /bash, zsh, fish/],
  ['completion bash zsh', /Name one shell/],
  ['man check', /man takes no words/],
]

for (const [line, says] of WRONG)
  t.test(`one sentence, and 2: ${line}`, async (t) => {
    const { code, stdout, stderr } = await commitlet(line.split(' '))
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: says })
    t.match(stderr, /^commitlet: [^\n]+\n$/)
  })

t.test('a bug is one sentence without what is in it', async (t) => {
  const lines: string[] = []
  const terminal: Terminal = {
    print: () => undefined,
    write: () => undefined,
    warn: (line) => void lines.push(line),
    colour: false,
    columns: undefined,
    progress: () => undefined,
    readInput: () => Promise.reject(new TypeError('tkn-secret')),
    env: {},
    signal: new AbortController().signal,
  }
  t.equal(await run(['check', '-f', '-'], terminal, '1.2.3'), 3)
  t.match(lines, [/^commitlet: This is a bug of commitlet \(TypeError at .*report it/])
  t.notMatch(lines.join(), 'tkn-secret')
})

t.test('without a kubeconfig a command that needs one says so', async (t) => {
  t.match(await commitlet(['doctor']), { code: 2, stderr: /KUBECONFIG cannot be read/ })
  t.match(await commitlet(['check', 'shop']), { code: 2, stderr: /KUBECONFIG/ })
})

t.test('an API server that does not answer, and a context that is not there', async (t) => {
  const config = {
    clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'none', user: { token: 'none' } }],
    contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
    'current-context': 'none',
  }
  const folder = t.testdir({ kubeconfig: JSON.stringify(config) })
  const env = { KUBECONFIG: `${folder}/kubeconfig` }
  t.match(await commitlet(['doctor'], { env }), {
    code: 3,
    stderr: /NetworkError: The API server could not be reached\.\n/,
  })
  t.match(await commitlet(['doctor', '--context', 'x'], { env }), { code: 2, stderr: /--context is "x"/ })
  const words = ['doctor', '--kubeconfig', `${folder}/kubeconfig`, '--context', 'none']
  t.match(await commitlet(words), { code: 3 })
})
