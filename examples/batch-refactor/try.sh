#!/bin/sh
# Four tasks in a copy of project/: one is merged, one does not merge, one changes nothing, and one breaks the check.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/project" "$work"
cd "$work/project"
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.invalid GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.invalid
git init -q -b main && git add -A && git commit -qm "The shop"

# Each task has a script of its own, found by the name of its worktree.
mkdir "$work/bin"
cat > "$work/bin/outrider" <<END
#!/bin/sh
name=\$(printf '%s\n' "\$@" | sed -n '/^--worktree\$/{n;p;}')
[ -z "\$name" ] || set -- "\$@" --provider scripted --model "$here/replies/\$name.json"
exec "$(command -v outrider)" "\$@"
END
chmod +x "$work/bin/outrider"
code=0
PATH="$work/bin:$PATH" sh "$here/refactor.sh" "$here/tasks.tsv" "$@" || code=$?
git log --format=%s --no-merges
exit "$code"
