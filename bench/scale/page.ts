/** The page with its generated tables replaced: each stands between two comments with its name. */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [before, after] = [text.indexOf(start), text.indexOf(end)]
    if (before < 0 || after < before) throw new Error(`The page has no place for the table ${name}.`)
    return `${text.slice(0, before + start.length)}\n\n${table}\n\n${text.slice(after)}`
  }, page)
}
