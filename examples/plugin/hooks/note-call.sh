#!/bin/sh
# The call is on standard input; what is kept goes to the plugin's own folder.
mkdir -p "$CLAUDE_PLUGIN_DATA"
cat >> "$CLAUDE_PLUGIN_DATA/calls.jsonl"
