import type { Schema } from './schema.ts'

const SECRET_KEY = { minLength: 1, maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' } as const

function secretKey(description: string): Schema {
  return { type: 'string', description, expects: 'the name of a key in the Secret', ...SECRET_KEY }
}

const SECRET_NAME: Schema = {
  type: 'string',
  description:
    'The name of the Secret, in the namespace of this resource. Its type must be Opaque, ' +
    'kubernetes.io/basic-auth or kubernetes.io/ssh-auth. Example: git',
  expects: 'the name of a Secret in the same namespace',
  minLength: 1,
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
}

/** `spec.credentials` and `spec.fallbackCredentials`; `use` describes when they are used. */
export function credentialsSchema(use: string): Schema {
  return {
    type: 'object',
    description:
      `${use} The values are in a Secret of the same namespace. The fields below name the Secret and its keys, ` +
      'never the values. If you set only secretName, the type of the Secret and the usual names of its keys decide. ' +
      'Example: {secretName: git, tokenKey: token}',
    expects: 'an object such as {secretName: git, tokenKey: token}',
    required: ['secretName'],
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-validations': [
      {
        rule: '!(has(self.tokenKey) && has(self.passwordKey))',
        message: 'Set either tokenKey or passwordKey, not both.',
      },
      {
        rule: '!has(self.appIDKey) || (has(self.privateKeyKey) && !has(self.tokenKey) && !has(self.passwordKey) && !has(self.usernameKey))',
        message:
          'Set appIDKey together with privateKeyKey, and without tokenKey, usernameKey and passwordKey.',
      },
      {
        rule: '!has(self.installationIDKey) || has(self.appIDKey)',
        message: 'Set installationIDKey only together with appIDKey.',
      },
    ],
    properties: {
      secretName: SECRET_NAME,
      tokenKey: secretKey('The key in the Secret that contains an access token. Example: token'),
      usernameKey: secretKey(
        'The key in the Secret that contains the user name. Use it with passwordKey, or with tokenKey if the ' +
          'host requires a certain user name. Example: username',
      ),
      passwordKey: secretKey('The key in the Secret that contains the password. Example: password'),
      privateKeyKey: secretKey(
        'The key in the Secret that contains a private key without a passphrase: for SSH addresses an SSH key (ed25519, ' +
          'ECDSA or RSA), with appIDKey the key of the GitHub App. Example: ssh-privatekey',
      ),
      knownHostsKey: secretKey(
        "The key in the Secret that contains the known_hosts lines of the SSH server. Without it, the operator's known_hosts or the built-in keys of public hosts are used. " +
          'Example: known_hosts',
      ),
      appIDKey: secretKey(
        'The key in the Secret that contains the App ID or the client ID of a GitHub App. Use it with privateKeyKey, for HTTPS. ' +
          'Example: app-id',
      ),
      installationIDKey: secretKey(
        'The key in the Secret that contains the number of the installation of the GitHub App. Defaults to the ' +
          'installation at the repository. Example: installation-id',
      ),
    },
  }
}

/** `spec.signing` of a GitCommit. */
export const SIGNING: Schema = {
  type: 'object',
  description:
    'The key that signs the commit. It is in a Secret of the same namespace. The fields below name the Secret and its ' +
    "key, never the value. Defaults to the operator's key where there is one for this repository. " +
    'Example: {secretName: signing-key}',
  expects: 'an object such as {secretName: signing-key}',
  required: ['secretName'],
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      rule: "!has(self.format) || self.format != 'openpgp' || has(self.privateKeyKey)",
      message: 'With format openpgp, set privateKeyKey.',
    },
  ],
  properties: {
    secretName: SECRET_NAME,
    privateKeyKey: secretKey(
      'The key in the Secret that contains the private key: ed25519, ECDSA or RSA, without a passphrase. Defaults to ' +
        'ssh-privatekey; required with format openpgp. Example: ssh-privatekey',
    ),
    format: {
      type: 'string',
      description:
        'The format of the key and of its signature: that of SSH, or OpenPGP, in armor. ' +
        'Defaults to ssh. Example: ssh',
      expects: 'ssh or openpgp',
      maxLength: 16,
      enum: ['ssh', 'openpgp'],
    },
  },
}
