import type { MarkdownOptions } from 'vitepress'

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

/** Code blocks of the language mermaid become the component Diagram; all others stay code. */
export function drawDiagrams(markdown: Markdown): void {
  const code = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token?.info.trim() === 'mermaid') return `<Diagram text="${encodeURIComponent(token.content)}" />`
    return code?.(tokens, index, ...rest) ?? ''
  }
}
