#!/bin/sh
# The demo's own agent, for machines without opencode: asks the model once, through the proxy, and does
# the one thing that it can do.
set -eu
