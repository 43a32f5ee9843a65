// GitHub: "This repository moved. Please use the new location:"; GitLab: "Project 'a/b' was moved to 'c/d'."
const SUBJECT = String.raw`(?:this |the |your )?(?:repository|project|repo)`
const NAME = String.raw`(?: '[^'\n]{1,300}'| "[^"\n]{1,300}"| [\w.~{}+-]{1,100}/[\w./~{}+-]{1,200})?`
const VERB = String.raw`(?: has| was| is)?(?: now| been)?(?: permanently)? (?:moved|renamed|transferred|relocated)(?: permanently)?`
const GOAL = String.raw`(?=\s*(?:[.:;,!]|$)| to:?\s+(?:['"<]|\S{0,300}[/@]|(?:a |the )?new |another ))`
const HOST = String.raw`(?:(?:remote|error|fatal|GitHub|GitLab|Gitea|Forgejo|Bitbucket): )?`

const BEGINNING = `^[ \\t]*${HOST}${SUBJECT}${NAME}${VERB}`

/** A line by which a host says that the repository has moved. */
export const MOVED_LINE = new RegExp(BEGINNING + GOAL, 'im')

/** Whether a message, a path or a file has a line that begins so, of which hooks may print the beginning. */
export function hasMovedLine(text: string): boolean {
  return MOVED_BEGINNING.test(text)
}

const MOVED_BEGINNING = new RegExp(BEGINNING, 'im')

/** What is wrong with a text that has such a line, as the end of a sentence. */
export const HAS_MOVED_LINE =
  'has a line that says that a repository has moved, as hosts say it; where a hook prints that, commits of others would fail; begin that line with other words.'
