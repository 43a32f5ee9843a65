import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { findOpenPGPKey } from '../../../functions/domain/openpgp/find-key.ts'
import { openPGPSigner } from '../../../functions/domain/signing/openpgp-signer.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { withGnuPG } from '../../harness/openpgp-keys.ts'
import { drawnTests, type DefineTest } from '../../harness/drawn-test.ts'
import { sized } from '../../harness/sample.ts'
import { chance, landAll, partsOf, writeChanged } from '../signed-commits.ts'
import { AUTHOR, changeOf, ENGINES, openStage } from '../stage.ts'

// Commits of both engines as Git and GnuPG see them.
const stage = await openStage()
t.teardown(() => stage.close())
const run = promisify(execFile)
/** Of each engine. */
const COMMITS = sized(10, 1_000)
const BATCH = 10

const TYPES = {
  ed25519: ['ed25519', {}],
  rsa: ['rsa2048', {}],
  'ecdsa-256': ['nistp256', {}],
  'ecdsa-521': ['nistp521', {}],
  subkey: ['ed25519', { usage: 'cert', subkey: 'rsa2048' }],
} as const

void withGnuPG(t, async (t, gpg) => {
  const signers = Object.entries(TYPES).map(([name, [algorithm, more]]) => {
    const text = gpg.makeKey(`${name} <${AUTHOR.email}>`, algorithm, more)
    const refuse = (complaint: string): Error => new Error(complaint)
    return openPGPSigner(findOpenPGPKey(Buffer.from(text)), { committer: AUTHOR.email, refuse })
  })

  /** What gpg says of these commits; rejects if it does not call all of them good. */
  async function verifyCommits(repository: GitRepository, names: readonly string[]): Promise<string> {
    const { stderr } = await run('git', ['-C', repository.path, 'verify-commit', '--raw', ...names], {
      env: gpg.env,
      maxBuffer: 64 * 1024 * 1024,
    })
    return stderr
  }

  let count = 0
  for (const engine of ENGINES) {
    // The signer is the same for both.
    const test: DefineTest = engine === 'git binary' ? drawnTests(t, 3) : (title, run) => t.test(title, run)
    void test(`${engine}: GnuPG calls ${COMMITS} random commits of mixed signers good`, async (t) => {
      const repository = await stage.server.createRepository(`signed-openpgp/${++count}`)
      const names: string[] = []
      for (let number = 0; number < COMMITS; number += BATCH) {
        const changes = Array.from({ length: BATCH }, (_, i) =>
          changeOf(repository.url, `${chance(`${number + i} path`, 30)}/${number + i}.yaml`, {
            text: `ü ${number + i}\n`.repeat(chance(`${number + i} text`, 50)),
            signer: signers[(number + i) % signers.length],
          }),
        )
        for (const ending of await landAll(stage, { engine, repository }, changes)) {
          if (ending === undefined || !('sha' in ending))
            throw new Error('It did not land', { cause: ending })
          names.push(ending.sha)
        }
      }
      t.equal(new Set(names).size, COMMITS)
      t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
      const said = await verifyCommits(repository, names)
      t.equal(said.match(/^\[GNUPG:\] GOODSIG /gm)?.length, COMMITS)
      t.equal(said.match(/^\[GNUPG:\] VALIDSIG /gm)?.length, COMMITS)
    })

    void test(`${engine}: a changed commit is bad, and so is a signature with a changed byte`, async (t) => {
      const repository = await stage.server.createRepository(`signed-openpgp/${++count}`)
      const changes = signers.map((signer, i) => changeOf(repository.url, `${i}.yaml`, { signer }))
      for (const ending of await landAll(stage, { engine, repository }, changes)) {
        if (ending === undefined || !('sha' in ending)) throw new Error('It did not land', { cause: ending })
        const { commit, signature, whole } = await partsOf(repository, ending.sha)
        t.ok(gpg.verifies(commit, signature))
        const changed = Buffer.from(commit)
        const at = chance(`${signature} byte`, commit.length)
        changed[at] = (commit[at] ?? 0) ^ 1
        t.notOk(gpg.verifies(changed, signature), `byte ${at}`)
        await t.rejects(verifyCommits(repository, [await writeChanged(repository, whole)]))
      }
    })
  }
})
