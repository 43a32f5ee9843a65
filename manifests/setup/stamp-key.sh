#!/usr/bin/env bash
# Creates the key with which the webhook signs the name of the requester and the function verifies it: the Secret
# commitlet-stamp-key in the namespace commitlet-system, 48 random bytes. An existing key stays unless you pass --renew: then
# resources in progress must be requested again (see docs/install.md). With --rotate there is a new key as well, and the last two
# old ones still verify. Run source-key.sh again after both, if you have sources of events. The key is in no file, argument or output.
# Needs kubectl and its current context.
set -euo pipefail

namespace=${NAMESPACE:-commitlet-system}
name=commitlet-stamp-key

fail() {
  printf 'stamp-key.sh: %s\n' "$1" >&2
  exit 1
}

secret() {
  printf '{"apiVersion":"v1","kind":"Secret","type":"Opaque","metadata":{"namespace":"%s","name":"%s",' "$namespace" "$name"
  printf '"labels":{"app.kubernetes.io/part-of":"commitlet"}},"data":{%s"key":"%s"}}' "${1-}" "$(head -c 48 /dev/urandom | base64 | tr -d '\n')"
}

# The old keys as members of the data, which only builtins of the shell see.
older() {
  local number=1 key value
  for key in key key\\.1; do
    value=$(kubectl -n "$namespace" get secret "$name" -o "jsonpath={.data.$key}") || return 1
    [ -z "$value" ] || printf '"key.%s":"%s",' "$number" "$value"
    number=$((number + 1))
  done
}

case ${1-} in
  '' | --renew | --rotate) ;;
  *) fail "\"$1\" is not an option: pass none, --renew for a new key, or --rotate to keep the old one for a while." ;;
esac
command -v kubectl >/dev/null || fail 'kubectl is not in the PATH; install it.'
kubectl get namespace "$namespace" -o name >/dev/null ||
  fail "the namespace $namespace cannot be read; check the context of kubectl and run step 2 of docs/install.md first."

found=$(kubectl -n "$namespace" get secret "$name" --ignore-not-found -o name) ||
  fail "the Secret $name cannot be read in $namespace; ask for the right to get it."
if [ -z "$found" ]; then
  # Never use apply: it would store the key in an annotation.
  secret | kubectl create -f - >/dev/null || fail "the Secret $name could not be created in $namespace."
  echo "The Secret $namespace/$name is created."
elif [ "${1-}" = --renew ]; then
  secret | kubectl replace -f - >/dev/null || fail "the Secret $name could not be replaced in $namespace."
  echo "The Secret $namespace/$name contains a new key; both parts read it at start, so restart them."
elif [ "${1-}" = --rotate ]; then
  keys=$(older) || fail "the Secret $name cannot be read in $namespace; ask for the right to get it."
  secret "$keys" | kubectl replace -f - >/dev/null || fail "the Secret $name could not be replaced in $namespace."
  echo "The Secret $namespace/$name contains a new key, and the old one as key.1; both parts read them at start, so restart them: the function first, and the webhook when its old pods are gone."
else
  echo "The Secret $namespace/$name already exists and is unchanged."
fi
