import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../../cli/commands/table.ts'
import { commitlet } from '../stage.ts'

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  bash: ['-n'],
  zsh: ['-n'],
  fish: ['--no-execute'],
}

for (const [shell, args] of Object.entries(CHECKS))
  t.test(`${shell} reads its completion`, async (t) => {
    const { code, stdout } = await commitlet(['completion', shell])
    t.equal(code, 0)
    for (const { name } of COMMANDS) t.match(stdout, name)
    const file = join(t.testdir({ script: stdout }), 'script')
    const { error, status, stderr } = spawnSync(shell, [...args, file], { encoding: 'utf8' })
    if (error !== undefined) t.pass('read', { skip: `${shell} is not on this machine` })
    else t.equal(status, 0, stderr)
  })

/** What bash offers for the last word of a line. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `compopt() { :; }; COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _commitlet; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

t.test('what bash offers', async (t) => {
  const { stdout } = await commitlet(['completion', 'bash'])
  t.same(offered(stdout, ['commitlet', 'ch']), ['check'])
  t.same(offered(stdout, ['commitlet', 'check', 'git']), ['gitcommit/'])
  t.same(offered(stdout, ['commitlet', 'check', '--file']), ['--filename'])
  t.same(offered(stdout, ['commitlet', 'check', '-o', '']), ['text', 'json'])
  t.same(offered(stdout, ['commitlet', 'completion', 'z']), ['zsh'])
  t.same(offered(stdout, ['commitlet', 'help', 'exp']), ['explain'])
  t.same(offered(stdout, ['commitlet', 'check', '-n', '']), [''])
  const folder = t.testdir({ 'shop.yaml': '' })
  t.same(offered(stdout, ['commitlet', 'check', '-f', `${folder}/sh`]), [`${folder}/shop.yaml`])
})

t.test('what fish offers', async (t) => {
  const { stdout } = await commitlet(['completion', 'fish'])
  const folder = t.testdir({ 'commitlet.fish': stdout, 'shop.yaml': '' })
  const offers = (line: string) =>
    spawnSync('fish', ['-c', `source commitlet.fish; complete -C '${line}'`], {
      cwd: folder,
      encoding: 'utf8',
    })
  const { error } = offers('')
  if (error !== undefined) return t.pass('offered', { skip: 'fish is not on this machine' })
  const words = (line: string) =>
    offers(line)
      .stdout.split('\n')
      .map((row) => row.replace(/\t.*/, ''))
      .filter((word) => word !== '')
  t.same(words('commitlet ch'), ['check'])
  t.same(words('commitlet check git'), ['gitcommit/'])
  t.same(words('commitlet check --file'), ['--filename'])
  t.same(words('commitlet check -o '), ['json', 'text'])
  t.same(words('commitlet completion z'), ['zsh'])
  t.same(words('commitlet check -f sh'), ['shop.yaml'])
})

t.test('the manual page has every command, option and exit code, and groff reads it', async (t) => {
  const { code, stdout } = await commitlet(['man'])
  t.equal(code, 0)
  for (const { name, options } of COMMANDS) {
    t.match(stdout, `.SS commitlet ${name}`)
    for (const option of options) t.match(stdout, `\\-\\-${option.name.replaceAll('-', '\\-')}`)
  }
  t.notMatch(stdout, /[^\n -~]/, 'in ASCII')
  const {
    error,
    stderr,
    stdout: page,
  } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input: stdout, encoding: 'utf8' })
  if (error !== undefined) return t.pass('formatted', { skip: 'groff is not on this machine' })
  t.equal(stderr, '')
  t.match(page, 'COMMITLET(1)')
})
