import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { WrongSetting } from '../../domain/settings.ts'

/** The default PATH. */
export const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The programs that the launcher runs, and what to install if one is missing. */
const REQUIRED = {
  sh: 'a POSIX shell (the package dash)',
  git: 'the package git, 2.39 or newer,',
  nice: 'the package coreutils',
  setpriv: 'the package util-linux (for Linux only: elsewhere use a Linux container)',
  timeout: 'the package coreutils',
} as const

/**
 * Checks that the programs exist that every call of git needs, without starting one.
 * @throws WrongSetting that names the first missing program and its package
 */
export function requirePrograms(path = USUAL_PATH): void {
  // An empty entry means the working directory, which contains no system programs.
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  for (const [program, remedy] of Object.entries(REQUIRED)) {
    if (folders.some((folder) => isProgram(join(folder, program)))) continue
    throw new WrongSetting(
      `The program ${program} is not in a folder of PATH ("${path}"); install ${remedy} and start again.`,
    )
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
