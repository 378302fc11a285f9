#!/bin/sh
# The pipeline under test: an agent judges the changes, a script computes the next version and prints it.
# Arguments are handed on to outrider, so that tests can say who answers; --bare makes it the same on every machine.
set -eu
here=$(dirname "$0")
answer=$(outrider -p "Read package.json and CHANGES.md. What kind of release do the unreleased changes make?" \
  --bare --cwd "$here/project" --disallowedTools Bash Write Edit WebFetch WebSearch \
  --json-schema "$here/answer.schema.json" --max-turns 10 --deadline 5m "$@")
echo "$answer" | node "$here/bump.mjs"
