import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { startLeashed } from '../harness/leash.ts'
import { isLong } from '../harness/sample.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { complaintsAboutDockerfile, instructionsOf } from './dockerfile.ts'
import { ROOT } from './workflows.ts'

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')

t.test('the Dockerfile keeps to the rules', async (t) => {
  t.strictSame(complaintsAboutDockerfile(DOCKERFILE), [])
})

/** What is replaced in the Dockerfile, by what, and what is said to it. */
const BROKEN: readonly (readonly [string | RegExp, string, RegExp])[] = [
  ['COPY . .', 'ADD . .', /^ADD is not used/],
  ['FROM ${BASE_IMAGE}', 'FROM debian:bookworm', /can be pinned$/],
  [':bookworm-slim', ':latest', /tomorrow$/],
  ['=debian:bookworm-slim', '=debian', /has no tag$/],
  ['ENV ', 'ENV NPM_TOKEN=a ', /stays in the image$/],
  [/CMD \[.*\]/, 'CMD node boot.cjs', /needs a shell/],
  ['WORKDIR /app', 'WORKDIR app', /is relative$/],
  ['apt-get update \\\n    && ', '', /of another layer$/],
  ['--no-install-recommends ', '', /only recommend/],
  [/&& rm -rf .*\n/, '\n', /lists of packages stay/],
  ['node build.ts', 'curl https://a.example | sh', /not repeatable$/],
  ['node build.ts', 'node (build.ts', /is not a script$/],
  ['USER 65532:65532', 'USER node', /^USER node is root, or a name/],
  ['USER 65532:65532', 'USER 0:0', /^USER 0:0 is root/],
  ['USER 65532:65532', 'USER 65532:65532\nRUN true', /by the user that runs them$/],
  [/ENTRYPOINT .*\n/, '', /not one ENTRYPOINT$/],
]

for (const [text, by, said] of BROKEN) {
  t.test(`seen when broken: ${String(text)}`, async (t) => {
    const broken = DOCKERFILE.replace(text, by)
    t.not(broken, DOCKERFILE)
    t.match(complaintsAboutDockerfile(broken), [said])
  })
}

/** npm ci downloads all packages where npm has none of them yet. */
const LONGEST_MS = 600_000
const skip = isLong() ? false : 'npm ci is for npm run test:long'

t.test(
  'its steps, one by one, make two programs that start with nothing else',
  { skip, timeout: LONGEST_MS },
  async (t) => {
    const steps = instructionsOf(DOCKERFILE)
    const second = steps.findLastIndex(({ name }) => name === 'FROM')
    const folder = t.testdir({ context: {}, build: {}, image: {}, kubeconfig: KUBECONFIG })
    const [context, build, image] = ['context', 'build', 'image'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    // What the engine gets: .dockerignore excludes everything and names what is kept.
    const kept = readFileSync(join(ROOT, '.dockerignore'), 'utf8').matchAll(/^!(.+)$/gm)
    for (const [, path = ''] of kept) cpSync(join(ROOT, path), join(context, path), { recursive: true })

    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }
    for (const { name, text } of steps.slice(0, second)) {
      if (name === 'COPY') copy(text, context, build)
      if (name === 'RUN') execFileSync('sh', ['-c', text], { cwd: build, env, stdio: 'pipe' })
    }
    for (const { name, text } of steps.slice(second)) {
      // Node itself is the one that runs this.
      if (name === 'COPY' && !text.includes('/usr/local/bin/node'))
        copy(text.replaceAll('/app/', ''), build, image)
      if (name === 'RUN') checkPackages(text)
    }
    t.strictSame(readdirSync(image).toSorted(), ['LICENSE', 'boot.cjs', 'dist'])

    const words = (name: string): readonly string[] =>
      JSON.parse(steps.findLast((step) => step.name === name)?.text ?? '')
    const [, , ...command] = words('ENTRYPOINT')
    const { certPEM, keyPEM } = await (await makeAuthority()).issue({ names: ['localhost'] })
    writeFileSync(join(folder, 'tls.crt'), certPEM)
    writeFileSync(join(folder, 'tls.key'), keyPEM)
    for (const program of [...words('CMD'), 'dist/webhook.cjs']) {
      const port = await freePort()
      const set = {
        PORT: port,
        KUBECONFIG: join(folder, 'kubeconfig'),
        TLS_CERT_FILE: join(folder, 'tls.crt'),
        TLS_KEY_FILE: join(folder, 'tls.key'),
      }
      const given = Object.entries({ ...set, PATH: env.PATH }).map(([key, value]) => `${key}=${value}`)
      const log = join(folder, `${basename(program)}.log`)
      const server = startLeashed('env', ['-i', '-C', image, ...given, ...command, program], log)
      try {
        const said = await waitFor(
          'start',
          () => /listening[^\n]*/.exec(readFileSync(log, 'utf8'))?.[0],
          60_000,
        )
        t.match(said, /listening/, program)
      } finally {
        await server.stop('SIGTERM')
      }
    }
    t.ok(existsSync(join(image, `dist/function.cjs.${process.version}.cache`)), 'with its code cache')
  },
)

/** COPY, from one folder into another. */
function copy(text: string, from: string, to: string): void {
  const words = text.split(/\s+/).filter((word) => !word.startsWith('--'))
  const target = join(to, words.at(-1) ?? '')
  for (const source of words.slice(0, -1)) {
    const path = join(
      target,
      words.length > 2 || !/[^./]$/.test(words.at(-1) ?? '') ? (source === '.' ? '' : basename(source)) : '',
    )
    mkdirSync(dirname(path), { recursive: true })
    cpSync(join(from, source), path, { recursive: true })
  }
}

/** Whether the packages of Debian are there, without installing them. */
function checkPackages(text: string): void {
  const names =
    /apt-get install (.*?) &&/
      .exec(text)?.[1]
      ?.split(/\s+/)
      .filter((word) => !word.startsWith('-')) ?? []
  if (names.length === 0) throw new Error(`${text} installs nothing`)
  if (existsSync('/usr/bin/apt-cache')) execFileSync('apt-cache', ['show', ...names], { stdio: 'pipe' })
}

/** An API server that refuses every connection. */
const KUBECONFIG = JSON.stringify({
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
})
