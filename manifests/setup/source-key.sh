#!/usr/bin/env bash
# Enters the source key in the ApiServerSources and PingSources of Commitlet, as the extension `sourcekey` of their events: by it, the
# function gives these events room that no pod can take with events of its own (docs/triggers.md). The key is derived from the stamp
# key, tells nothing of it, and gives no rights. Run this again after each `stamp-key.sh --rotate` or `--renew`. With --print, prints
# the source key alone, for other sources of yours and for the audit webhook. No key is in an argument.
# Needs kubectl with its current context, and openssl.
set -euo pipefail

namespace=${NAMESPACE:-commitlet-system}
secret=commitlet-stamp-key
kinds=apiserversources.sources.knative.dev,pingsources.sources.knative.dev

fail() {
  printf 'source-key.sh: %s\n' "$1" >&2
  exit 1
}

# As functions/arrival/source-key.ts derives it. Only builtins of the shell see the stamp key.
source_key() {
  local stamp_key digest
  stamp_key=$(kubectl -n "$namespace" get secret "$secret" -o 'jsonpath={.data.key}') || return 1
  [ -n "$stamp_key" ] || return 1
  digest=$({
    printf 'commitlet.dev/v1 source-key\n'
    printf '%s' "$stamp_key" | openssl base64 -d -A
  } | openssl dgst -sha256 -r) || return 1
  printf '%s\n' "${digest%% *}"
}

case ${1-} in
  '' | --print) ;;
  *) fail "\"$1\" is not an option: pass none to enter the key in the sources, or --print to print it." ;;
esac
for program in kubectl openssl; do
  command -v "$program" >/dev/null || fail "$program is not in the PATH; install it."
done
key=$(source_key) ||
  fail "the Secret $secret cannot be read in $namespace; run stamp-key.sh first, or ask for the right to get it."
if [ "${1-}" = --print ]; then
  printf '%s\n' "$key"
  exit
fi

sources=$(kubectl -n "$namespace" get "$kinds" -l app.kubernetes.io/part-of=commitlet -o name) ||
  fail "the sources cannot be read in $namespace; install Knative Eventing, or ask for the right to list ApiServerSources and PingSources."
[ -n "$sources" ] ||
  fail "there is no source of Commitlet in $namespace; add a component of manifests/triggers to your kustomization and apply it first."
while read -r source; do
  printf '{"spec":{"ceOverrides":{"extensions":{"sourcekey":"%s"}}}}' "$key" |
    kubectl -n "$namespace" patch "$source" --type merge --patch-file /dev/stdin >/dev/null ||
    fail "the key could not be entered in $source; ask for the right to patch it."
  echo "The source $namespace/${source##*/} contains the key."
done <<<"$sources"
