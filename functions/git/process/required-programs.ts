import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { WrongSetting } from '../../domain/settings.ts'

/** The PATH of a process that is given none. */
export const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What LAUNCHER runs, and what to install where it is missing. */
const REQUIRED = {
  sh: 'a POSIX shell (the package dash)',
  git: 'the package git, 2.39 or newer,',
  setpriv: 'the package util-linux (for Linux only: elsewhere use a Linux container)',
  timeout: 'the package coreutils',
} as const

/**
 * Looks the programs up that every call of git needs, without starting one.
 * @throws WrongSetting naming the first that is missing, and the package it belongs to
 */
export function requirePrograms(path = USUAL_PATH): void {
  // An empty entry means the working folder, where no program of the system lies.
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
