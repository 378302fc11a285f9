#!/bin/sh
# A copy of project/ is upgraded to greet 2. The scripted model needs two tries: the check tells that the first was not enough.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/project" "$here/packages" "$work"
cd "$work/project"
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.invalid GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.invalid
printf 'node_modules/\n' > .gitignore
npm install --offline --silent --no-audit --no-fund
git init -q -b main && git add -A && git commit -qm "The door"

# A script knows no earlier tries: the second run of outrider is given the second script.
mkdir "$work/bin"
cat > "$work/bin/outrider" <<END
#!/bin/sh
case " \$* " in *" --resume "*) script=replies-2.json ;; *) script=replies.json ;; esac
exec "$(command -v outrider)" "\$@" --provider scripted --model "$here/\$script"
END
chmod +x "$work/bin/outrider"
PATH="$work/bin:$PATH" UPGRADE="npm install --offline --no-audit --no-fund ../packages/greet-2" sh "$here/upgrade.sh" "$@"
cat upgrade.diff
