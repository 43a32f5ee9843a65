import { readFile } from 'node:fs/promises'
import { ROOT } from '../manifests/read.ts'

/** The blocks of code of a page below this heading, or of all of it. */
export async function blocksOf(page: string, language: string, heading?: string): Promise<readonly string[]> {
  const text = await readFile(new URL(page, ROOT), 'utf8')
  const [section = ''] =
    heading === undefined ? [text] : (text.split(`\n${heading}\n`)[1] ?? '').split('\n## ')
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code ?? '',
  )
}
