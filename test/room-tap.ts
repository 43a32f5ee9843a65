import { subtestOf } from './room.ts'

const subtest = subtestOf(import.meta.url)

/** The module that a test file in a room gets as `tap`: its own subtest; see room.ts. */
export { subtest as default }
