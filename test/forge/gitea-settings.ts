import { randomBytes } from 'node:crypto'

/** Where Gitea listens, where its files are, and the address that its users know. */
export interface Place {
  readonly folder: string
  /** The folder of its templates. */
  readonly data: string
  readonly origin: string
  readonly httpPort: number
  readonly sshPort: number
  /** File of its private SSH key. */
  readonly hostKey: string
}

/** The file app.ini: everything on 127.0.0.1, SQLite, no mail, no calls to anywhere. */
export function settingsOf(place: Place): string {
  const { folder, data, origin, httpPort, sshPort, hostKey } = place
  return `
APP_NAME = forge
RUN_MODE = prod
WORK_PATH = ${folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${httpPort}
ROOT_URL = ${origin}/
STATIC_ROOT_PATH = ${data}
APP_DATA_PATH = ${folder}/data
OFFLINE_MODE = true
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_DOMAIN = 127.0.0.1
SSH_PORT = ${sshPort}
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = ${sshPort}
SSH_SERVER_HOST_KEYS = ${hostKey}
SSH_ROOT_PATH = ${folder}/ssh
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = ${folder}/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = ${folder}/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = ${secret()}
INTERNAL_TOKEN = ${secret()}
PASSWORD_HASH_ALGO = pbkdf2
[oauth2]
JWT_SECRET = ${secret()}
[service]
DISABLE_REGISTRATION = true
[mailer]
ENABLED = false
[actions]
ENABLED = false
[packages]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
[indexer]
ISSUE_INDEXER_TYPE = db
[queue]
TYPE = channel
[session]
PROVIDER = memory
[cron.update_checker]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
`
}

function secret(): string {
  return randomBytes(32).toString('base64url')
}
