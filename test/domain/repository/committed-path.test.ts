import t from 'tap'
import { controlComponent, pathComplaint } from '../../../functions/domain/repository/committed-path.ts'

const GOOD = [
  'a',
  'clusters/prod/settings.yaml',
  'with space/ü/日本.yaml',
  '.gitkeep',
  '.hidden',
  'a.git',
  'git',
  'git~',
  'a~1',
  '.gitx/y',
  '-a',
  'a:b',
  '"quoted"',
  'x'.repeat(255),
  '…/a',
  `${'a/'.repeat(63)}b`,
]

t.test('an ordinary path is accepted', async (t) => {
  for (const path of GOOD) t.equal(pathComplaint(path), undefined, path)
})

const BAD: Record<string, readonly string[]> = {
  'begins with "/"': ['/a', '/'],
  'empty part': ['', 'a//b', 'a/'],
  'dots and spaces alone': ['.', '..', '../x', 'x/../y', './x', 'x/.', '...', '.. /x', ' '],
  'takes for ".git"': [
    '.git',
    '.git/x',
    '.GIT/x',
    'a/.Git/hooks/post-checkout',
    'git~1',
    'GIT~1/x',
    'git~2/x',
    '.git ',
    '.git.',
    '.git . ./x',
    '.git::$INDEX_ALLOCATION/x',
    '.git:x',
    'git~1::$DATA',
    '.g\u200cit/x',
    '\ufeff.git',
    '.gi\u206ft/x',
    '.git\u202e',
    '.gıt/x',
    '.ＧIT',
    'ｇit~1',
  ],
  'control character': ['a\tb', 'a\nb', 'a\u0000', 'a\u007f', 'a\u0085', '\u001b[31m'],
  backslash: ['a\\b', '..\\x', '.git\\x'],
  surrogate: ['a\ud800'],
  'has 65 parts between "/", but at most 64': [`${'a/'.repeat(64)}b`],
  'more than 255 bytes': ['x'.repeat(256), 'é'.repeat(128), `a/${'日'.repeat(86)}/b`],
}

for (const [complaint, paths] of Object.entries(BAD)) {
  t.test(`a path is refused: ${complaint}`, async (t) => {
    for (const path of paths)
      t.ok(pathComplaint(path)?.includes(complaint), JSON.stringify(path).slice(0, 60))
  })
}

t.test('a file that configures Git or the host is recognised wherever it stands', async (t) => {
  const paths = {
    '.gitmodules': '.gitmodules',
    'a/.gitattributes': '.gitattributes',
    'a/.gitignore/b': '.gitignore',
    '.mailmap': '.mailmap',
    'docs/CODEOWNERS': 'CODEOWNERS',
    '.gitlab-ci.yml': '.gitlab-ci.yml',
    '.github/workflows/a.yaml': '.github',
    '.GitHub/x': '.GitHub',
    '.gitlab/x': '.gitlab',
    '.gitea/x': '.gitea',
    '.forgejo/x': '.forgejo',
    'a/.circleci/config.yml': '.circleci',
    '.tekton/x': '.tekton',
    '.gitmodules ': '.gitmodules ',
    '.gitmodules. .': '.gitmodules. .',
    '.gitmodules::$DATA': '.gitmodules::$DATA',
    'GITMOD~1': 'GITMOD~1',
    'gi7eba~1': 'gi7eba~1',
    'GITLAB~1.YML': 'GITLAB~1.YML',
    '.git\u200dmodules': '.git\u200dmodules',
    '.gitmodule\u017f': '.gitmodule\u017f',
    'docs/CODEOWNER\u017f': 'CODEOWNER\u017f',
    '.te\u212aton/x': '.te\u212aton',
    '.gıthub/x': '.gıthub',
    '.lfsconfig': '.lfsconfig',
    'bitbucket-pipelines.yml': 'bitbucket-pipelines.yml',
    '.woodpecker/a.yaml': '.woodpecker',
    '.woodpecker.yml': '.woodpecker.yml',
    '.woodpecker.yaml': '.woodpecker.yaml',
    '.drone.yml': '.drone.yml',
    '.travis.yml': '.travis.yml',
    'azure-pipelines.yml': 'azure-pipelines.yml',
    'a/JENKINSFILE': 'JENKINSFILE',
    'JENKIN~1': 'JENKIN~1',
    'WOODPE~2.YAM': 'WOODPE~2.YAM',
    'AZURE-~1.YML': 'AZURE-~1.YML',
    'bi12cd~1.yml': 'bi12cd~1.yml',
    'docs/OWNERS': 'OWNERS',
    '.buildkite/pipeline.yml': '.buildkite',
    'BUILDK~1/pipeline.yml': 'BUILDK~1',
    'cloudbuild.yaml': 'cloudbuild.yaml',
    'CLOUDB~1.YAM': 'CLOUDB~1.YAM',
    '.drone.jsonnet': '.drone.jsonnet',
    'DRONE~1.JSO': 'DRONE~1.JSO',
    '.zuul.d/a.yaml': '.zuul.d',
    'ZUUL~1.D/a.yaml': 'ZUUL~1.D',
    'renovate.json': 'renovate.json',
    'pr12cd~3.yam': 'pr12cd~3.yam',
    '.prow/jobs.yaml': '.prow',
    'docs/OWNERS_ALIASES': 'OWNERS_ALIASES',
    'zuul.yaml': 'zuul.yaml',
    '.devcontainer.json': '.devcontainer.json',
    'atlantis.yaml': 'atlantis.yaml',
    'buildkite/pipeline.yml': 'buildkite',
    'buildkite.json': 'buildkite.json',
    '.policy.yml': '.policy.yml',
    '.readthedocs.yaml': '.readthedocs.yaml',
    'site/netlify.toml': 'netlify.toml',
    '.workflow/release.yml': '.workflow',
  }
  for (const [path, component] of Object.entries(paths)) t.equal(controlComponent(path), component, path)
  for (const path of [
    'github/x',
    '.gitmodules. .x',
    '. .',
    '.gitkeep',
    'a.gitignore',
    'CODEOWNERS.md',
    'x/gitlab-ci.yml',
    'drone.yml',
    'Jenkinsfiles',
    'a~1',
    'jenkin~',
    'jenkin~1.txt',
    'owners.yaml',
    'builds/a',
  ]) {
    t.equal(controlComponent(path), undefined, path)
  }
})
