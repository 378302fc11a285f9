#!/bin/sh
# review.sh BASE [FLAGS OF OUTRIDER…]: reviews what HEAD changes since BASE. Exit code 1 when an error was found.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
base=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git diff "$base...HEAD" > "$work/change.diff"
head -c 400000 "$work/change.diff" | outrider -p "Review this change. Name bugs with file and line; say nothing about style." - \
  --permission-mode plan --setting-sources user --json-schema "$here/findings.schema.json" \
  --max-turns 30 --deadline 15m "$@" > "$work/findings.json"
node "$here/annotate.mjs" "$work/change.diff" < "$work/findings.json"
