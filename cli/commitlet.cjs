#!/usr/bin/env node
// The program of a release is one file; a clone that was not built runs the sources.
'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`Commitlet needs Node 22.19 or newer, but this is ${process.versions.node}.\n`)
  process.exit(2)
}
const built = join(__dirname, '../dist/commitlet.cjs')
if (existsSync(built)) require(built)
else import('./main.ts')
