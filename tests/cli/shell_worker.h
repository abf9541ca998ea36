#pragma once

namespace faceter::testing {

/// A worker written in shell: it copies a journal that was recorded before, and results, into the run, as a real one would write them. What
/// it does otherwise stands in the file `mode` beside it, so that a test can change its mind between runs.
inline const char* const worker_script = R"sh(#!/bin/sh
here=$(dirname "$0")
run="$2"
. "$here/mode"
mkdir -p "$run/journal/$FACETER_ATTEMPT"
begin() { if [ "${RANK:-0}" = 0 ]; then cp "$here/$1" "$run/journal/$FACETER_ATTEMPT/rank-0.jsonl"; fi; }
if [ "$MODE" = done ] || [ "$MODE" = late ]; then
  cp "$here"/results/*.json "$run/results/"
  begin finished.jsonl
  echo "all is well"
  [ "$MODE" = late ] && kill -9 $$
  exit 0
elif [ "$MODE" = fail ]; then
  echo "corpus.jsonl:7: torn line"
  exit 4
elif [ "$MODE" = kill ]; then
  kill -9 $$
elif [ "$MODE" = ranks ]; then
  echo "$RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $(stat -c %a "$(dirname "$FACETER_RENDEZVOUS")")" > "$here/rank-$RANK"
  dirname "$FACETER_RENDEZVOUS" > "$here/meeting"
  [ "$RANK" = 1 ] && kill -9 $$
  echo "a peer is lost"
  exit 8
elif [ "$MODE" = wait ]; then
  trap 'begin stopped.jsonl; exit 6' TERM
  touch "$here/waiting"
  while :; do sleep 0.02; done
fi
)sh";

}  // namespace faceter::testing
