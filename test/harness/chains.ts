let keys = 0

/** Lists of so many values that take the most memory for their text: objects within each other, each with a key of its own. */
export function chains(values: number, depth: number): readonly unknown[] {
  return Array.from({ length: Math.floor(values / depth) }, () => {
    let value: unknown = 0
    for (let i = 1; i < depth; i += 1) value = { [`k${(keys += 1).toString(36)}`]: value }
    return value
  })
}
