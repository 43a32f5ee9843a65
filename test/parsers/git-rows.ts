import { trailerValues } from '../../functions/domain/commit/trailers.ts'
import { classify } from '../../functions/git/output/classify.ts'
import { readPushReport } from '../../functions/git/output/git-output.ts'
import { readDefaultBranch } from '../../functions/git/session/symref.ts'
import { explainSSH } from '../../functions/git/ssh/ssh-errors.ts'
import { explainHandshake } from '../../functions/git/ssh-worker/connection-errors.ts'
import { readRequest } from '../../functions/git/ssh/request.ts'
import { certificateError } from '../../functions/domain/network/certificate-errors.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const ADDRESS = parseRepositoryAddress('git@git.example.com:a/b.git')
const CONTEXT = { url: ADDRESS.text, secrets: ['a-secret'], deadlineSeconds: 120, fetchLimitMiB: 256 }
const ended = (stderr: string) => ({ exitCode: 128, stdout: '', stderr, seconds: 1 })

/** What Git and SSH servers print. */
export const GIT_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'output of git',
    largest: 256 * KIBI,
    read: (text) => [classify(ended(text), 'push', CONTEXT), readPushReport(text)],
    texts: {
      'lines of the remote': ['', 'remote: a\n', ''],
      'line ends': ['', '\n', ''],
      refspecs: ['', 'dst refspec ', ''],
      'a long refspec': ['dst refspec ', 'a', ''],
      repositories: ['', "fatal: repository '", ''],
      'missing repositories': ["fatal: repository '", "' not foun", ''],
      'HTTP codes': ['', 'Received HTTP code 1', ''],
      headers: ['', '10:00:00.000000 http.c:1   <= Recv header: retry-after:    ', ''],
      'lines with headers': ['', '10:00:00.000000 http.c:1 <= Recv header: date: x\n', ''],
      'rejected refs': ['', '!\t[remote rejected] (', ''],
      'lines that are no rejected refs': ['', '!\t[\n', ''],
      'a long line': ['!', '\t[', ''],
      'errors of the remote': ['fatal: remote error: ', 'GitLab: 50', ''],
      blanks: ['remote: ', ' ', 'x'],
      'many errors': ['', 'fatal: unable to read 0\n', ''],
    },
  }),
  textRow({
    parser: 'trailers of a commit',
    largest: 64 * KIBI,
    // As much before the block as in it: messages of up to 128 Ki are searched.
    read: (text) => trailerValues(`Subject\n${text}\n\nCommitlet-Id: a.1\n${text}`, 'Commitlet-Id'),
    texts: {
      'empty lines': ['', '\n', ''],
      blanks: ['', ' ', 'x'],
      'lines of blanks': ['', ' \n', ''],
      'carriage returns': ['', '\r', 'x'],
      words: ['', 'a', ''],
      'words and blanks': ['a', ' ', 'b'],
      trailers: ['', 'A: b\n', ''],
      ids: ['', 'Commitlet-Id: a\n', ''],
      'lines that continue': ['A: b\n', ' c\n', ''],
      'lines that continue an id': ['Commitlet-Id: a\n', ' c\n', ''],
      'ids that continue': ['', 'Commitlet-Id: a\n b\n', ''],
      comments: ['', '#\n', ''],
    },
  }),
  textRow({
    parser: 'output of an SSH server',
    largest: 64 * KIBI,
    read: (words) => {
      const report = {
        doing: 'reading',
        undelivered: true,
        failure: undefined,
        words,
        exitStatus: 1,
      } as const
      return explainSSH(ended('fatal: Could not read from remote repository.'), report, CONTEXT)
    },
    texts: {
      permissions: ['', 'Permission to ', ''],
      accounts: ['', 'account ', ''],
      users: ['', 'user ', ''],
      'keys and users': ['', 'the user of the account ', ''],
      'lines of the remote': ['', 'remote: ', ''],
      words: ['', 'not ', ''],
      blanks: ['', ' ', 'x'],
    },
  }),
  textRow({
    parser: 'algorithms of an SSH server',
    largest: 35_000,
    read: (text) =>
      explainHandshake(
        { name: 'Error', message: text, level: 'protocol' },
        { address: ADDRESS, key: 'a', offers: [`Handshake: (remote) KEX method: ${text}`], first: text },
      ),
    texts: { names: ['', 'a,', ''], errors: ['Handshake failed: no matching ', 'key ', ''] },
  }),
  textRow({
    parser: 'name of the default branch',
    largest: 64 * KIBI,
    read: (line) => readDefaultBranch([line], ['a-secret-of-the-login']),
    texts: {
      bytes: [' HEAD symref-target:refs/heads/', '\\377', ''],
      names: ['', ' HEAD symref-target:refs/heads/', ''],
      letters: ['symref=HEAD:refs/heads/', 'a', ''],
    },
  }),
  textRow({
    parser: 'first packet on the port of the tunnel',
    largest: 64 * KIBI,
    read: (text) => readRequest(Buffer.from(text), { service: 'git-upload-pack', path: '/a' }),
    texts: { zeros: ['03e8', '\0', ''], digits: ['', '0', ''] },
  }),
  {
    parser: 'error of a certificate',
    largest: 64 * KIBI,
    shapes: { unknown: (size) => () => certificateError({ fault: 'A'.repeat(size) }) },
  },
]
