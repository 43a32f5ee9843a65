import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { demands } from '../../../functions/domain/repository/demanded-repositories.ts'

/** A list, an address that means a repository of it or may mean one, and what is only similar. */
const ROWS: readonly (readonly [list: string, covered: readonly string[], others: readonly string[]])[] = [
  [
    'git.example.com/acme',
    [
      'https://git.example.com/acme/config.git',
      // Gitea and GitLab ignore the letter case.
      'https://git.example.com/ACME/Config',
      'git@git.example.com:acme/config',
      'ssh://deploy@git.example.com/acme/config',
      'ssh://git@git.example.com:2222/acme/config',
      'https://git.example.com:8443/acme/config',
      // Of OpenSSH's server and a shell, the home folder.
      'ssh://git@git.example.com/~/acme/config',
      'git@git.example.com:~git/acme/config',
      // The UUID of any repository or workspace.
      'https://git.example.com/{d3b0}/config',
    ],
    ['https://git.example.com/acme-evil/config', 'https://git.example.org/acme/config'],
  ],
  [
    'github.com/acme/config',
    [
      'https://github.com/Acme/config.git',
      'ssh://git@ssh.github.com:443/acme/config',
      'git@ssh.github.com:acme/config',
    ],
    ['https://github.com/acme/other', 'ssh://git@altssh.gitlab.com:443/acme/config'],
  ],
  ['bitbucket.org/acme', ['https://bitbucket.org/acme/{d3b0}', 'https://bitbucket.org/{d3b0}/x'], []],
  ['altssh.gitlab.com', ['https://gitlab.com/acme/config'], []],
  [
    // The user of an entry does not matter: the repository is the same.
    'git.example.com:2222, deploy@git.example.org',
    [
      'ssh://git@git.example.com:2222/acme/config',
      'git@git.example.org:acme/config',
      'https://git.example.org/acme/config',
    ],
    ['https://git.example.com/acme/config'],
  ],
  ['', [], ['https://git.example.com/acme/config']],
]

for (const [list, covered, others] of ROWS)
  t.test(`what is demanded of "${list}"`, async (t) => {
    for (const text of covered) t.ok(demands(list, parseRepositoryAddress(text)), text)
    for (const text of others) t.notOk(demands(list, parseRepositoryAddress(text)), text)
  })
