import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { decodeCommit } from '../../../functions/git/objects/commit-object.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { drawnTests, type DefineTest } from '../../harness/drawn-test.ts'
import { sized } from '../../harness/sample.ts'
import { chance, landAll, partsOf, writeChanged } from '../signed-commits.ts'
import { makeSigningKeys, type KeyType } from '../signing-keys.ts'
import { AUTHOR, changeOf, endingsOf, ENGINES, openStage, patience, pending } from '../stage.ts'

// Commits of both engines as Git and OpenSSH see them.
const stage = await openStage()
const keys = await makeSigningKeys()
t.teardown(async () => {
  await stage.close()
  await keys.close()
})
const { server } = stage
const run = promisify(execFile)
const TYPES = Object.keys(keys.signers) as KeyType[]
/** Of each engine. */
const COMMITS = sized(10, 1_000)
const BATCH = 10

/** What `git verify-commit` says of these commits; rejects if it does not call all of them good. */
async function verifyCommits(repository: GitRepository, names: readonly string[]): Promise<string> {
  const format = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${keys.allowedSigners}`]
  const { stderr } = await run('git', ['-C', repository.path, ...format, 'verify-commit', '-v', ...names], {
    maxBuffer: 64 * 1024 * 1024,
  })
  return stderr
}

async function verifyByOpenSSH(commit: Buffer, signature: string): Promise<boolean> {
  const file = join(keys.folder, `${createHash('sha256').update(signature).digest('hex')}.sig`)
  await writeFile(file, signature)
  const args = ['-Y', 'verify', '-f', keys.allowedSigners, '-I', AUTHOR.email, '-n', 'git', '-s', file]
  const checking = run('ssh-keygen', args)
  checking.child.stdin?.end(commit)
  return checking.then(
    () => true,
    () => false,
  )
}

let count = 0
for (const engine of ENGINES) {
  // The signer is the same for both.
  const test: DefineTest = engine === 'git binary' ? drawnTests(t, 3) : (title, run) => t.test(title, run)
  void test(`${engine}: Git and OpenSSH call ${COMMITS} random commits of mixed signers good`, async (t) => {
    const repository = await server.createRepository(`signed/${++count}`)
    const names: string[] = []
    const signed = new Map<string, KeyType>()
    for (let number = 0; number < COMMITS; number += BATCH) {
      const chosen = Array.from(
        { length: BATCH },
        (_, i) => TYPES[chance(`${number + i} key`, TYPES.length + 1)],
      )
      const changes = chosen.map((type, i) =>
        changeOf(repository.url, `${chance(`${number + i} path`, 30)}/${number + i}.yaml`, {
          text: `ü ${number + i}\n`.repeat(chance(`${number + i} text`, 50)),
          ...(type === undefined ? {} : { signer: keys.signers[type] }),
        }),
      )
      const endings = await landAll(stage, { engine, repository }, changes)
      for (const [i, ending] of endings.entries()) {
        if (ending === undefined || !('sha' in ending)) throw new Error(`Change ${number + i} did not land`)
        names.push(ending.sha)
        const type = chosen[i]
        if (type !== undefined) signed.set(ending.sha, type)
      }
    }
    t.equal(new Set(names).size, COMMITS)
    t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
    const all = [...signed.keys()]
    const said = await verifyCommits(repository, all)
    t.equal(said.match(/^Good "git" signature for commitlet@/gm)?.length, all.length)
    const unsigned = names.filter((name) => !signed.has(name))
    for (const name of unsigned.slice(0, 3)) t.notMatch((await partsOf(repository, name)).signature, /BEGIN/)
    for (const name of all.slice(0, sized(5, 1_000))) {
      const { commit, signature } = await partsOf(repository, name)
      t.ok(await verifyByOpenSSH(commit, signature), `ssh-keygen: ${signed.get(name)}`)
    }
  })

  void test(`${engine}: a signature with one changed byte is bad, and so is one of a changed commit`, async (t) => {
    const repository = await server.createRepository(`signed/${++count}`)
    for (const type of TYPES) {
      const [ending] = await landAll(stage, { engine, repository }, [
        changeOf(repository.url, `${type}.yaml`, { signer: keys.signers[type] }),
      ])
      if (ending === undefined || !('sha' in ending)) throw new Error('It did not land')
      const { commit, signature, whole } = await partsOf(repository, ending.sha)
      t.ok(await verifyByOpenSSH(commit, signature), type)
      const changed = Buffer.from(commit)
      const at = chance(`${type} byte`, commit.length)
      changed[at] = (commit[at] ?? 0) ^ 1
      t.notOk(await verifyByOpenSSH(changed, signature), `${type}, byte ${at}`)
      const id = await writeChanged(repository, whole)
      await t.rejects(verifyCommits(repository, [id]), 'git says bad')
    }
  })

  void test(`${engine}: a key that fails fails its own change, and no other of the batch`, async (t) => {
    const repository = await server.createRepository(`signed/${++count}`)
    const failure = new Failure('CredentialsInvalid', 'The key signs nothing.')
    const signer = { sign: () => Promise.reject(failure) }
    const good = keys.signers.ed25519
    const signers = [good, signer, good]
    const changes = signers.map((one, i) => changeOf(repository.url, `${i}.yaml`, { signer: one }))
    const endings = await landAll(stage, { engine, repository }, changes)
    t.match(endings, [{ outcome: 'pushed' }, failure, { outcome: 'pushed' }])
  })

  void test(`${engine}: after a lost race a commit is signed again, with its new parent`, async (t) => {
    const repository = await server.createRepository(`signed/${++count}`)
    const before = await repository.git('rev-parse', 'main')
    let signatures = 0
    const signer = {
      async sign(commit: Buffer) {
        signatures += 1
        if (signatures === 1) await repository.commit('main', { other: 'x' }, 'Other')
        return keys.signers['ecdsa-256'].sign(commit)
      },
    }
    const batch = [pending(changeOf(repository.url, 'a', { signer }))]
    const [ending] = await stage.remote(engine, repository.url, (remote) =>
      endingsOf(batch, land(remote, { batch, signal: patience() })),
    )
    if (ending === undefined || !('sha' in ending)) throw new Error('It did not land')
    t.equal(signatures, 2)
    t.match(await verifyCommits(repository, [ending.sha]), /^Good "git" signature/m)
    const { whole } = await partsOf(repository, ending.sha)
    t.not(decodeCommit(whole).parents[0], before)
  })
}
