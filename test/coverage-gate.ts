import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Least share of covered lines: of each source file, and of all together. */
const LEAST = { file: 0.95, total: 0.98 } as const
const SOURCES = ['functions/**/*.ts', 'webhook/**/*.ts', 'cli/**/*.ts']
/** These run in a worker thread only, whose lines tap does not count; the tests of git/ssh and of edits are theirs. */
const IN_THREADS: ReadonlySet<string> = new Set([
  ...['command-channel', 'connection', 'main', 'program'].map(
    (name) => `functions/git/ssh-worker/${name}.ts`,
  ),
  'functions/edits/main.ts',
])

/** Lines of one source file: how many are counted, and which of them no test ran. */
export interface FileCoverage {
  readonly lines: number
  readonly missed: readonly number[]
}

/** Reads an lcov report by the path of the source file (SF and DA lines of geninfo's format). */
export function readLcov(text: string): ReadonlyMap<string, FileCoverage> {
  const records = text.split('end_of_record').map((record): [string | undefined, FileCoverage] => {
    const counted = [...record.matchAll(/^DA:(\d+),(\d+)/gm)]
    const missed = counted.filter(([, , count]) => count === '0').map(([, line]) => Number(line))
    return [/^SF:(.+)$/m.exec(record)?.[1], { lines: counted.length, missed }]
  })
  return new Map(records.flatMap(([file, coverage]) => (file === undefined ? [] : [[file, coverage]])))
}

/** Every shortfall as one line; empty where the tests cover enough of these source files. */
export function judge(
  files: readonly string[],
  report: ReadonlyMap<string, FileCoverage>,
): readonly string[] {
  const each = files.flatMap((file) => judgeFile(file, report.get(file)))
  const counted = files.flatMap((file) => report.get(file) ?? [])
  const lines = sum(counted.map((coverage) => coverage.lines))
  const covered = lines - sum(counted.map(({ missed }) => missed.length))
  if (lines > 0 && covered / lines >= LEAST.total) return each
  return [...each, `Of all lines ${percent(covered, lines)} are covered, ${LEAST.total * 100} % have to be.`]
}

/** Whether nothing of the file is left when its types are taken away, so that no test can load it. */
export function isTypesOnly(source: string): boolean {
  const compilerOptions = { removeComments: true, verbatimModuleSyntax: true, module: ts.ModuleKind.ESNext }
  const { outputText } = ts.transpileModule(source, { compilerOptions })
  return /^\s*(export \{\};?)?\s*$/.test(outputText)
}

function judgeFile(file: string, coverage: FileCoverage | undefined): string[] {
  if (coverage === undefined) return [`${file}: no test loads it.`]
  const { lines, missed } = coverage
  const covered = lines - missed.length
  if (covered / lines >= LEAST.file) return []
  return [`${file}: ${percent(covered, lines)} of its lines are covered, not ${ranges(missed)}.`]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(1)} %`
}

/** 3, 4, 5, 9 → 3-5, 9 */
function ranges(lines: readonly number[]): string {
  const starts = lines.filter((line) => !lines.includes(line - 1))
  const ends = lines.filter((line) => !lines.includes(line + 1))
  return starts
    .map((start, i) => (start === ends[i] ? `${start}` : `${start}-${ends[i] ?? start}`))
    .join(', ')
}

function main(): number {
  const root = join(import.meta.dirname, '..')
  const all = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()
  const counted = all.filter((file) => !IN_THREADS.has(file))
  const files = counted.filter((file) => !isTypesOnly(readFileSync(join(root, file), 'utf8')))
  const complaints = judge(files, readLcov(readFileSync(join(root, '.tap/report/lcov.info'), 'utf8')))
  process.stdout.write(complaints.map((line) => `${line}\n`).join(''))
  if (complaints.length === 0)
    process.stdout.write(`The tests cover ${files.length} source files well enough.\n`)
  return complaints.length === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = main()
