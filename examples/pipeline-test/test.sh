#!/bin/sh
# The pipeline's test, as CI runs it: no key, no network, the same answers every time.
set -eu
here=$(dirname "$0")
version=$(sh "$here/next-version.sh" --replay "$here/cassette.json" --no-session-persistence)
test "$version" = 1.5.0 || { echo "expected 1.5.0, not $version"; exit 1; }
echo "the next version is $version, as it should be"
