// Of each format only its beginning and as much of the rest as tells it from an ordinary word: the search never looks
// further than 100 characters ahead, whatever the text.
const FORMATS = [
  // GitHub: https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
  String.raw`gh[oprsu]_(?=[A-Za-z0-9]{0,40}[0-9]|[A-Za-z]{30})[A-Za-z0-9]{16}`,
  String.raw`github_pat_[A-Za-z0-9]{20}`,
  // GitLab: https://docs.gitlab.com/security/tokens/#token-prefixes
  String.raw`gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-(?=[\w-]{0,40}[A-Z]|[A-Za-z0-9_]{16})[\w-]{16}`,
  String.raw`GR1348941(?=[\w-]{0,20}[A-Za-z])[\w-]{20}`,
  // Atlassian: API tokens, access tokens of Bitbucket, its former app passwords.
  String.raw`AT[AC]TT[A-Za-z0-9_=+/-]{20}`,
  String.raw`ATBB[A-Za-z0-9]{28}`,
  // Slack
  String.raw`xox[a-z](?:\.xox[a-z])?-(?=[\w-]{0,20}[0-9]|[A-Za-z0-9]{16})[\w-]{10}`,
  String.raw`xapp-[0-9]-[\w-]{10}`,
  // AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
  String.raw`A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])`,
  // Google
  String.raw`AIza[\w-]{35}(?![\w-])`,
  String.raw`ya29\.[\w-]{20}`,
  String.raw`GOCSPX-[\w-]{20}`,
  // npm, PyPI, Docker Hub, Vault, Stripe, SendGrid, DigitalOcean, Hugging Face, OpenAI, Anthropic, Azure DevOps
  String.raw`npm_[A-Za-z0-9]{36}`,
  String.raw`pypi-AgE[\w-]{20}`,
  String.raw`dckr_[op]at_[\w-]{20}`,
  String.raw`hv[bs]\.[\w-]{20}`,
  String.raw`[rs]k_live_[A-Za-z0-9]{20}`,
  String.raw`SG\.[\w-]{20,24}\.[\w-]{20}`,
  String.raw`do[opr]_v1_[0-9a-f]{64}`,
  String.raw`hf_[A-Za-z]{30}`,
  String.raw`sk-(?:ant|proj)-(?=[\w-]{0,40}[A-Z0-9])[\w-]{20}`,
  String.raw`[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}`,
]
const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${FORMATS.join('|')})`)
/**
 * A signed JSON Web Token, such as that of a service account (RFC 7519), found by the beginning of its second part: from
 * there it looks back over the first one, whose characters belong to one dot alone. From each `eyJ` on it would look over
 * all that follow.
 */
const WEB_TOKEN = /\.(?=eyJ[\w-]{10})(?<=(?<![A-Za-z0-9])eyJ[\w-]{10,2000}\.)/
/** PEM (RFC 7468), OpenPGP (RFC 9580) and PuTTY. */
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d/

/**
 * Whether the text holds something in a format that only tokens and private keys have. It does not find a credential
 * without a format of its own, such as a password; in return, hashes, base64 and ordinary names are none.
 */
export function looksLikeCredential(text: string): boolean {
  return TOKEN.test(text) || WEB_TOKEN.test(text) || PRIVATE_KEY.test(text)
}
