import { spawnSync } from 'node:child_process'

/** An instruction of a Dockerfile, its continued lines as one, without comments. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of a Dockerfile, in their order. */
export function instructionsOf(dockerfile: string): readonly Instruction[] {
  const plain = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\s*\\\n\s*/g, ' ')
  const lines = plain.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, name = '', text = ''] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? []
    return { name, text }
  })
}

const KNOWN = /^(ARG|CMD|COPY|ENTRYPOINT|ENV|FROM|LABEL|RUN|USER|WORKDIR)$/
const SECRET = /\w*(TOKEN|PASSWORD|PASSWD|SECRET|CREDENTIAL|PRIVATE_KEY)\w*/i

/** What is wrong with one instruction, wherever it stands. */
function complaintsAboutOne({ name, text }: Instruction): readonly (string | false)[] {
  const installs = name === 'RUN' && text.includes('apt-get install')
  return [
    !KNOWN.test(name) && `${name} is not used here; COPY copies files`,
    name === 'FROM' &&
      !/^\$\{\w+\}( AS \w+)?$/.test(text) &&
      `FROM ${text} is not an argument, which can be pinned`,
    name === 'ARG' && !/^\w+=[\w./-]+:[\w.-]+$/.test(text) && `ARG ${text} has no tag`,
    name === 'ARG' && /:latest$/.test(text) && `ARG ${text} may be anything tomorrow`,
    (name === 'ARG' || name === 'ENV') && SECRET.test(text) && `${name} ${text} stays in the image`,
    (name === 'ENTRYPOINT' || name === 'CMD') &&
      !/^\[.*\]$/.test(text) &&
      `${name} needs a shell, which gets the signals`,
    name === 'WORKDIR' && !text.startsWith('/') && `WORKDIR ${text} is relative`,
    installs &&
      !text.startsWith('apt-get update &&') &&
      'packages are installed from a list of another layer',
    installs &&
      !/install -y --no-install-recommends /.test(text) &&
      'packages bring what they only recommend, or ask',
    installs && !text.includes('rm -rf /var/lib/apt/lists/*') && 'the lists of packages stay in the image',
    name === 'RUN' &&
      /\b(sudo|curl|wget)\b|apt-get (dist-)?upgrade/.test(text) &&
      `RUN ${text} is not repeatable`,
    name === 'RUN' && spawnSync('sh', ['-n'], { input: text }).status !== 0 && `RUN ${text} is not a script`,
  ]
}

/** What is wrong with a Dockerfile: one line each, nothing if it is good. */
export function complaintsAboutDockerfile(dockerfile: string): readonly string[] {
  const all = instructionsOf(dockerfile)
  const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'))
  const user = last.findLast(({ name }) => name === 'USER')?.text ?? '0'
  const afterUser = last.slice(last.findLastIndex(({ name }) => name === 'USER') + 1)
  const found = [
    ...all.flatMap(complaintsAboutOne),
    !/^[1-9]\d*:[1-9]\d*$/.test(user) && `USER ${user} is root, or a name, which nobody can check`,
    afterUser.some(({ name }) => name === 'RUN' || name === 'COPY') &&
      'files are written by the user that runs them',
    last.filter(({ name }) => name === 'ENTRYPOINT').length !== 1 && 'there is not one ENTRYPOINT',
  ]
  return found.filter((complaint) => complaint !== false)
}
