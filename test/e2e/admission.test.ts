import t from 'tap'
import { MISTAKES, specOf } from '../domain/gate/usual-mistakes.ts'
import { readyOf } from '../harness/conditions.ts'
import type { Ran } from '../harness/control-plane.ts'
import { sentencesIn } from '../harness/denials.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { kubectlApplyAs, until } from '../harness/rights.ts'
import { sample } from '../harness/sample.ts'
import { withCommitlet } from '../harness/shared-installation.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'
const REFERENCE = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/settings.yaml' }

/** What a spec is refused for, all in one answer. */
const REFUSED: readonly {
  readonly title: string
  readonly spec: object
  readonly says: readonly string[]
}[] = [
  {
    title: 'everything at once',
    spec: {
      repository: 'https://Git.example.com/acme/config.git',
      branch: '-x',
      message: 'Fine\n\nCommitlet-Id: forged',
      provider: 'gopher',
      credentials: { secretName: 'Git', tokenKey: 'token', passwordKey: '' },
      resourceRef: { ...REFERENCE, kind: 'Secret', name: '../x', path: '../x' },
    },
    says: [
      'spec.repository ',
      'spec.branch ',
      'spec.message begins line 3 with "Commitlet-" or "Requested-by:", which Commitlet alone writes; leave that line out.',
      'spec.provider is "gopher", which is not a known provider; write one of github, gitlab, bitbucket, gitea (also for Forgejo).',
      'spec.credentials.secretName ',
      'spec.credentials.passwordKey ',
      'spec.resourceRef.kind is Secret, which is never committed in clear text; refer to another kind.',
      'spec.resourceRef.name ',
      'spec.resourceRef.path has the part "..", of dots and spaces alone; write the path without it.',
    ],
  },
  {
    title: 'keys that an SSH address cannot use',
    spec: {
      repository: 'git@git.example.com:acme/config.git',
      credentials: { secretName: 'git', tokenKey: 'token' },
    },
    says: [
      'spec.credentials.tokenKey is not used for an SSH address; name privateKeyKey, or write the https address of the repository.',
    ],
  },
  {
    title: 'keys that an https address cannot use',
    spec: {
      credentials: { secretName: 'git', privateKeyKey: 'key' },
      fallbackCredentials: { secretName: 'other', knownHostsKey: 'hosts' },
    },
    says: [
      'spec.credentials.privateKeyKey is not used for HTTPS; name tokenKey, or usernameKey and passwordKey.',
      'spec.fallbackCredentials.knownHostsKey is not used for HTTPS; name tokenKey, or usernameKey and passwordKey.',
    ],
  },
  {
    title: 'the default credentials for an SSH address',
    spec: { repository: 'git@git.example.com:acme/config.git', credentials: undefined },
    says: [
      "spec.credentials is missing, but an SSH address needs a private key, which the operator's default credentials do not have; name a Secret there.",
    ],
  },
  {
    title: 'a fallback without credentials',
    spec: { credentials: undefined, fallbackCredentials: { secretName: 'other', tokenKey: 'token' } },
    says: ['spec.fallbackCredentials is used only together with spec.credentials; name a Secret there too.'],
  },
  {
    title: 'a GitHub App on another host',
    spec: { credentials: { secretName: 'git', appIDKey: 'id', installationIDKey: 'i', privateKeyKey: 'k' } },
    says: ['spec.credentials.appIDKey needs the API of a GitHub Enterprise Server; write provider: github'],
  },
  {
    title: 'a token beside a password',
    spec: { credentials: { secretName: 'git', tokenKey: 'token', usernameKey: 'u', passwordKey: 'p' } },
    says: ['spec.credentials.passwordKey is set together with tokenKey; set only one of them.'],
  },
  {
    title: 'none of the required fields',
    spec: { repository: undefined, message: undefined, resourceRef: {} },
    says: [
      'spec.repository is missing; ',
      'spec.message is missing; ',
      'spec.resourceRef.apiVersion is missing; ',
      'spec.resourceRef.kind is missing; ',
      'spec.resourceRef.name is missing; ',
      'spec.resourceRef.path is missing; ',
    ],
  },
]

withCommitlet(t, async (t, commitlet) => {
  const apply = (team: Team, object: object): Promise<Ran> => team.applyAs(undefined, object)
  const ADMIN = ['--as-group=system:masters', '--validate=false'] as const

  t.test('every field error is in the one answer, each naming its field', async (t) => {
    const team = await commitlet.createTeam()
    for (const { title, spec, says } of REFUSED) {
      const object = gitCommit('refused', REPOSITORY, { ...spec })
      // What kubectl prints of several causes.
      const ran = says.length > 2 ? kubectlApplyAs(team, 'admin', object, ...ADMIN) : apply(team, object)
      const { code, stderr } = await ran
      t.equal(code, 1, title)
      const sentences = sentencesIn(stderr)
      for (const said of says)
        t.ok(
          sentences.some((found) => found.startsWith(said)),
          `${title}: ${said}`,
        )
      t.equal(sentences.length, says.length, `${title}: nothing else`)
    }
    t.equal((await team.kubectl(['get', 'commitlet', '-o', 'name'])).stdout, '', 'nothing is stored')
  })

  t.test('usual mistakes are answered by kubectl as the documentation says', async (t) => {
    const team = await commitlet.createTeam()
    // The API server refuses a misspelt field, and a list that has an entry twice, before it asks the webhook.
    const asked = MISTAKES.filter(({ says }) => !/tokenkey|twice/.test(says))
    for (const mistake of sample(asked, ({ warning, kind }) => `${warning} ${kind}`)) {
      const applied = await team.kubectl(['apply', '--dry-run=server', '-f', '-'], {
        input: JSON.stringify(specOf(mistake, team.namespace)),
        allowFailure: true,
      })
      // Of a missing right, kubectl prints the message, and otherwise its causes; a warning is beside an answer.
      const isPlain = mistake.warning === true || applied.stderr.includes('(Forbidden)')
      const said = isPlain ? applied.stderr : sentencesIn(applied.stderr).join(' ')
      t.equal(applied.code, mistake.warning === true ? 0 : 1, mistake.says)
      t.ok(said.includes(mistake.says), mistake.says)
    }
  })

  t.test('a kind that the cluster does not know is a warning', async (t) => {
    const team = await commitlet.createTeam()
    const resourceRef = { ...REFERENCE, apiVersion: 'shop.example.com/v1', kind: 'Basket' }
    const { code, stderr } = await apply(team, gitCommit('early', REPOSITORY, { resourceRef }))
    t.equal(code, 0)
    t.equal(
      stderr,
      'Warning: spec.resourceRef.kind is Basket of shop.example.com/v1, which the cluster does not know (yet); Commitlet retries automatically.\n',
    )
    await team.waitFor('early', 'jsonpath={.status.phase}=Retrying', '60s')
    t.match(readyOf(await team.get('early')), { reason: 'ReferenceNotFound' })
  })

  t.test('what looks like a token is denied in any field, and is in no denial or log line', async (t) => {
    const team = await commitlet.createTeam()
    const pasted = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'
    for (const [field, spec] of [
      ['spec.credentials.tokenKey', { credentials: { secretName: 'git', tokenKey: pasted } }],
      ['spec.repository', { repository: `https://git.example.com/acme/${pasted}` }],
      ['spec.message', { message: `Use ${pasted}` }],
    ] as const) {
      const { code, stderr } = await apply(team, gitCommit('leak', REPOSITORY, spec))
      t.equal(code, 1, field)
      t.match(stderr, `${field}: contains what looks like a token`)
      t.notMatch(stderr, pasted)
    }
    const logs = [...commitlet.function.lines, ...commitlet.webhook.lines].join('\n')
    t.notMatch(logs, pasted)
  })

  t.test('a token pasted as the name of a key is in no warning, status, Event or log line', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap())
    // Of a host whose tokens have no form of their own.
    const pasted = '16c7e42f292c6912e7710c838347ae178b4a0815'
    const credentials = { secretName: 'git', tokenKey: pasted }
    const { code, stderr } = await apply(team, gitCommit('pasted', repository.url, { credentials }))
    t.equal(code, 0, stderr)
    await team.waitFor('pasted', 'jsonpath={.status.phase}=Retrying', '60s')
    const { status } = await team.get('pasted')
    t.match(readyOf(await team.get('pasted')), { reason: 'CredentialsInvalid', message: /tokenKey/ })
    const events = (): Promise<Ran> => team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])
    const { stdout } = await until('Event', events, /CredentialsInvalid/)
    const logs = [...commitlet.function.lines, ...commitlet.webhook.lines].join('\n')
    t.match(logs, 'CredentialsInvalid')
    for (const text of [stderr, JSON.stringify(status), stdout, logs]) t.notMatch(text, pasted)
  })

  t.test('the path of a file that configures Git or the host is a warning', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    const resourceRef = { ...REFERENCE, path: '.github/workflows/x.yaml' }
    await team.apply(configMap())
    const { stderr } = await apply(team, gitCommit('steering', repository.url, { resourceRef }))
    t.match(stderr, /^Warning: spec\.resourceRef\.path is a file that configures Git or the host: .*\.\n$/)
    t.match(readyOf(await team.settled('steering')), { reason: 'ReferenceForbidden' })
    t.equal(commitlet.git.requests.filter(({ repository: name }) => name === team.namespace).length, 0)
  })
})
