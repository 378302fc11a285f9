#!/bin/sh
# Triage of issues.json, answered by a script; one of its answers is about an issue that was not asked about.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/triage.sh" "$here/issues.json" --provider scripted --model "$here/replies.json" --no-session-persistence "$@" |
  node "$here/plan.mjs" "$here/issues.json" "$here/labels.json"
