#!/bin/sh
# Makes the recording anew, here from a script; without the first line of flags it would be made from the model you have a key for.
set -eu
here=$(dirname "$0")
sh "$here/next-version.sh" --provider scripted --model "$here/replies.json" \
  --record "$here/cassette.json" --no-session-persistence
