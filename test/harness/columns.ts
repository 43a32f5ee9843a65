/** The only row of a table that kubectl printed, by the headings of its columns. */
export function columns(table: string): Readonly<Record<string, string>> {
  const [head = '', row = ''] = table.split('\n')
  const names = [...head.matchAll(/\S+(?: \S+)*/g)]
  const cells = names.map(([name], i) => [name, row.slice(names[i]?.index, names[i + 1]?.index).trim()])
  return Object.fromEntries(cells) as Readonly<Record<string, string>>
}
