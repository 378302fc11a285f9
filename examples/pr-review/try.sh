#!/bin/sh
# The review of a change with a bug in it, answered by a script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cd "$project"
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.invalid GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.invalid
git init -q -b main
printf 'export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n' > cart.js
git add cart.js
git commit -qm "Carts have a total"
git checkout -qb faster
printf 'export function total(items) {\n  let sum = 0;\n  for (let at = 1; at < items.length; at++) sum += items[at].price;\n  return sum;\n}\n' > cart.js
git commit -qam "Totals are faster"
sh "$here/review.sh" main --provider scripted --model "$here/replies.json" --no-session-persistence --no-ci-report "$@"
