#!/usr/bin/env bash
# Makes the webhook's serving certificate, for a year: the Secret commitlet-webhook-tls, and its authority as caBundle
# in both webhook configurations. Run it again to renew: authorities that are in caBundle stay there beside the new one
# (the newest two), until every pod serves the new certificate. An authority signs once; its key is thrown away.
# No key is in a file or an argument. Needs kubectl with its current context, and openssl 3.
set -euo pipefail

namespace=commitlet-system
name=commitlet-webhook-tls
host=commitlet-webhook.$namespace.svc
days=365

fail() {
  printf 'certificate.sh: %s\n' "$1" >&2
  exit 1
}

# The first certificates of standard input, as many as $1, as PEM; what is none is left out.
certificates() {
  awk -v most="$1" '/-----BEGIN CERTIFICATE-----/ { n++ } n > 0 && n <= most { print }'
}

new_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256
}

# A new certificate for the host ($key) and that of its authority, in this order.
issue() {
  local authority_key authority
  authority_key=$(new_key)
  authority=$(openssl req -x509 -new -sha256 -days "$days" -key <(printf '%s\n' "$authority_key") \
    -config <(printf '%s\n' '[req]' 'distinguished_name=dn' 'x509_extensions=ca' 'prompt=no' \
      '[dn]' "CN=Commitlet webhook authority $(date -u +%Y-%m-%dT%H:%M:%SZ)" \
      '[ca]' 'basicConstraints=critical,CA:TRUE,pathlen:0' 'keyUsage=critical,keyCertSign' \
      'subjectKeyIdentifier=hash'))
  openssl req -new -sha256 -key <(printf '%s\n' "$key") \
    -config <(printf '%s\n' '[req]' 'distinguished_name=dn' 'prompt=no' '[dn]' "CN=commitlet-webhook") |
    openssl x509 -req -sha256 -days "$days" -set_serial "0x$(openssl rand -hex 16)" \
      -CA <(printf '%s\n' "$authority") -CAkey <(printf '%s\n' "$authority_key") \
      -extfile <(printf '%s\n' 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
        'extendedKeyUsage=serverAuth' "subjectAltName=DNS:$host")
  printf '%s\n' "$authority"
}

# $1: mutatingwebhookconfiguration or validatingwebhookconfiguration.
trust() {
  local known bundle
  known=$(kubectl get "$1" commitlet -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d) ||
    fail "the $1 commitlet cannot be read; run step 2 of docs/install.md first."
  bundle=$({
    printf '%s\n' "$authority"
    certificates 2 <<<"$known"
  } | base64 | tr -d '\n')
  kubectl patch "$1" commitlet --type=json -p \
    "[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$bundle\"}]" >/dev/null ||
    fail "the $1 commitlet could not be changed; ask for the right to patch it."
}

[ $# -eq 0 ] || fail "\"$1\" is not an option: there are none."
command -v kubectl >/dev/null || fail 'kubectl is not in the PATH; install it.'
command -v openssl >/dev/null || fail 'openssl is not in the PATH; install it.'
kubectl get namespace "$namespace" -o name >/dev/null ||
  fail "the namespace $namespace cannot be read; check the context of kubectl and run step 2 of docs/install.md first."

key=$(new_key)
issued=$(issue 2>/dev/null) || fail 'openssl could not make the certificate; version 3 is known to.'
certificate=$(certificates 1 <<<"$issued")
authority=${issued#"$certificate"$'\n'}
[ -n "$certificate" ] && [ "$authority" != "$issued" ] || fail 'openssl made no certificate; version 3 is known to.'

# Trusted first, served afterwards: there is no moment at which the API server meets an authority it does not know.
trust mutatingwebhookconfiguration
trust validatingwebhookconfiguration
# Server-side: an ordinary apply would keep the key in an annotation.
kubectl -n "$namespace" create secret tls "$name" --dry-run=client -o yaml \
  --cert=<(printf '%s\n' "$certificate") --key=<(printf '%s\n' "$key") |
  kubectl apply --server-side --force-conflicts --field-manager=commitlet-setup -f - >/dev/null ||
  fail "the Secret $name could not be written in $namespace."
echo "The Secret $namespace/$name holds a certificate for $host until $(openssl x509 -noout -enddate <<<"$certificate" | cut -d= -f2)."
