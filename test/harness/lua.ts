import { join } from 'node:path'
import { findGo } from './control-plane-binaries.ts'
import { buildGoTools, type GoTools, type Missing, type Search } from './go-build.ts'

const LUA: GoTools = {
  module: join(import.meta.dirname, '../lua'),
  name: 'lua',
  packages: ['github.com/yuin/gopher-lua/cmd/glua'],
  programs: ['glua'],
  shown: (goMod) => `Lua by gopher-lua ${/gopher-lua (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 1,
  withoutGo: 'There is no Go to build Lua.',
  flags: () => ['-ldflags', '-s -w'],
}

/** Path of glua, the Lua of Argo CD, which is built from test/lua into the user's cache folder, unless it is there. */
export async function findLua(search: Search): Promise<string | Missing> {
  const folder = await buildGoTools(LUA, await findGo(search), search)
  return typeof folder === 'string' ? join(folder, 'glua') : folder
}
