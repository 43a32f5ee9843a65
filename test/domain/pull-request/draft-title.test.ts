import t from 'tap'
import {
  draftTitle,
  titleLike,
  withoutDraftMarks,
} from '../../../functions/domain/pull-request/draft-title.ts'
import { DRAFT as GITEA } from '../../../functions/providers/gitea/pull-request.ts'
import { DRAFT as GITLAB } from '../../../functions/providers/gitlab/pull-request.ts'

for (const [mark, title, expected] of [
  [GITLAB, 'Settings', 'Draft: Settings'],
  [GITLAB, 'Draft: Settings', 'Draft: Settings'],
  [GITLAB, '[Draft] Settings', '[Draft] Settings'],
  [GITLAB, 'Drafts', 'Draft: Drafts'],
  [GITLAB, 'WIP: a', 'Draft: WIP: a'],
  [GITEA, 'Settings', 'WIP: Settings'],
  [GITEA, 'WIP: a', 'WIP: a'],
  [GITEA, 'wip:a', 'wip:a'],
  [GITEA, '[WIP] a', '[WIP] a'],
  [GITEA, '[wip]WIP: a', '[wip]WIP: a'],
  [GITEA, 'Wipe the disk', 'WIP: Wipe the disk'],
] as const) {
  t.test(`the draft of ${title} is called ${expected}`, async (t) => {
    t.equal(draftTitle(title, mark), expected)
  })
}

for (const [mark, shown, title, expected] of [
  [GITLAB, 'Draft: Old', 'New', 'Draft: New'],
  [GITLAB, '(draft) [Draft] Old', 'New', '(draft) [Draft] New'],
  [GITLAB, 'Old', 'New', 'New'],
  [GITLAB, 'Draft: Old', 'Draft: New', 'Draft: New'],
  [GITEA, '[WIP] old', 'new', '[WIP] new'],
  [GITEA, 'WIP: old', 'wip: new', 'wip: new'],
  [GITEA, 'Draft: old', 'new', 'new'],
] as const) {
  t.test(`${title} for what is shown as ${shown} is ${expected}`, async (t) => {
    t.equal(titleLike(shown, title, mark), expected)
  })
}

t.test('titles are compared without the draft mark of any host', async (t) => {
  for (const marks of ['Draft: ', 'wip:', '[Draft] ', '(WIP)', 'WIP: [draft] (draft) '])
    t.equal(withoutDraftMarks(`${marks}Settings`), 'Settings', marks)
  t.equal(withoutDraftMarks('Drafts: settings'), 'Drafts: settings')
})
