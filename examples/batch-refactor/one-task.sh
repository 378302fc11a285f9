#!/bin/sh
# one-task.sh TASKS NAME LOGS [FLAGS OF OUTRIDER…]: the task of that name, in its worktree. LOGS/NAME.done is there when it ended well.
set -eu
tasks=$1 name=$2 logs=$3
shift 3
prompt=$(awk -F '\t' -v name="$name" '$1 == name { print $2 }' "$tasks")
if outrider -p "$prompt" --worktree "$name" --permission-mode acceptEdits --max-turns 40 --deadline 20m "$@" \
  > "$logs/$name.out" 2> "$logs/$name.err" < /dev/null; then touch "$logs/$name.done"; fi
