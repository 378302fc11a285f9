#!/bin/sh
# refactor.sh TASKS [FLAGS OF OUTRIDER…]: each task in a worktree, then all of them through a merge queue. Exit code 1 when one was left.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tasks=$1
shift
check=${CHECK:-npm test}
names=$(cut -f1 "$tasks")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

[ -z "$(git status --porcelain)" ] || { echo "Commit what you have first"; exit 1; }
printf '%s\n' "$names" | xargs -P "${AT_ONCE:-4}" -I NAME sh "$here/one-task.sh" "$tasks" NAME "$logs" "$@"

left=0
for name in $names; do
  before=$(git rev-parse HEAD)
  if [ ! -e "$logs/$name.done" ]; then
    echo "$name: left, its agent did not end well"
  elif [ ! -d ".outrider/worktrees/$name" ]; then
    echo "$name: nothing was changed"
    continue
  elif ! outrider worktrees merge "$name" --commit "Refactor: $name" > "$logs/$name.merge" 2>&1; then
    git merge --abort
    echo "$name: left, it does not merge"
  elif ! sh -c "$check" > "$logs/$name.check" 2>&1; then
    git branch "left/$name"
    git reset -q --hard "$before"
    echo "$name: left, the check fails with it"
  else
    echo "$name: merged"
    continue
  fi
  left=1
done
exit "$left"
