#!/usr/bin/env bash
# The soak's agent. It notes each run in a file that the server knows nothing of, does what the words of its
# prompt say, and answers with the note, so that a second run could not give the same answer. What it starts
# carries the variable BBS_SOAK_AGENT, by which the soak finds it.
export BBS_SOAK_AGENT=$0
run=$$-$RANDOM$RANDOM-$(date +%s%N)
prompt=$(cat)
printf '%s %s\n' "$BBS_TURN_ID" "$run" >>'@RUNS@'

# Asks the model through the proxy; bash speaks TCP itself, so no curl is needed and no key is an argument.
call() { # what to ask
  address=${OPENAI_BASE_URL#http://}
  host=${address%%/*}
  body="{\"model\":\"soak\",\"messages\":[{\"role\":\"user\",\"content\":\"$1 $BBS_TURN_ID\"}]}"
  (
    exec 3<>"/dev/tcp/${host%:*}/${host#*:}" || exit 1
    printf 'POST /%s/chat/completions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n' \
      "${address#*/}" "$host" "$OPENAI_API_KEY" >&3
    printf 'Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
      "${#body}" "$body" >&3
    IFS= read -r status <&3 && cat <&3 >/dev/null
    case $status in *' 200 '*) ;; *) exit 1 ;; esac
  ) 2>/dev/null
}

for word in $prompt; do
  case $word in
    child) sleep 600 >/dev/null 2>&1 & ;;
    escapee) setsid sleep 600 >/dev/null 2>&1 & ;;
    call-*) call "$word" || call "$word" ;;
    sleep:*) sleep "${word#sleep:}" ;;
    long) head -c 200000 /dev/zero | tr '\0' 'x' ;;
    fail)
      echo "told to fail" >&2
      exit 3
      ;;
  esac
done
echo "turn $BBS_TURN_ID, run $run"
