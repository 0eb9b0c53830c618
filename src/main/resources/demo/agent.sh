#!/bin/sh
# The demo's own agent, for machines without opencode. It does what every agent does, in small: reads the
# prompt, asks the model through the proxy, changes a file, and says what the model said.
set -eu
cat >/dev/null # the prompt; this agent can do only one thing
# The key goes in by standard input, because arguments of a process are visible to all.
answer=$(printf 'header = "Authorization: Bearer %s"\n' "$OPENAI_API_KEY" |
  curl -sSf -K - -H 'Content-Type: application/json' \
    -d '{"model":"demo-1","messages":[{"role":"user","content":"Write a greeting into a file."}]}' \
    "$OPENAI_BASE_URL/chat/completions")
printf '%s\n' '@CONTENT@' >'@FILE@'
printf '%s\n' "$answer" | sed 's/.*"content": *"\([^"]*\)".*/\1/'
