#pragma once
#include <QFile>
#include <QString>

#include "common/file.h"

namespace faceter::testing {

/// A program in place of faceter-worker: as a session it answers at once (a preview with one set, an estimate), ends on "crash", is silent
/// on "sleep"; as a run it does nothing and succeeds.
inline fs::path write_fake_worker(const fs::path& folder) {
    const fs::path file = folder / "fake-worker";
    const char* script = R"SH(#!/bin/sh
[ "$1" = session ] || exit 0
text='{"role":"anchor","instruction":"search query: ","text":"a text that is cut","cut":6,"num_tokens":12,"kept_tokens":8,"pieces":["[CLS]","a"]}'
lengths='{"role":"anchor","num_texts":60,"mean":9.5,"longest":12,"max_length":8,"num_truncated":20,"bin_width":4,"bins":[10,30,20]}'
set='{"name":"synopses","use":"training","task":"retrieval","task_type":"retrieval","size":60,"counts":{},"warnings":[],"examples":[{"texts":['$text'],"label":"admin"}],"lengths":['$lengths']}'
gone='{"name":"uses","use":"training","task":"clustering","unavailable":"the index has no tags"}'
stage='{"name":"train","steps":100,"examples":3200,"seconds_per_step":0.5,"tokens_per_s":900,"probed_steps":4,"seconds":50}'
estimate='{"total_parameters":22713216,"active_parameters":22713216,"stages":['$stage'],"evaluation":{"texts":500,"seconds":10},"seconds":60,"memory_bytes":1503238553,"memory_available_bytes":8589934592,"threads":2,"warnings":[]}'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"id":\([0-9]*\),.*/\1/p')
  case "$line" in
    *'"method":"preview"'*) echo '{"id":'$id',"progress":{"what":"read","done":1,"total":2}}'; echo '{"id":'$id',"result":{"max_length":8,"sets":['$set','$gone']}}' ;;
    *'"method":"estimate"'*) echo '{"id":'$id',"result":'$estimate'}' ;;
    *'"method":"crash"'*) echo 'the last words' >&2; kill -9 $$ ;;
    *'"method":"refuse"'*) echo '{"id":'$id',"error":{"code":"data","message":"refused for a reason"}}' ;;
    *'"method":"sleep"'*|*'"method":"cancel"'*) printf '%s\n' "$line" >> "$0.log" ;;
    *) echo 'noise that is no JSON'; echo '{"id":'$id',"result":{"echo":true}}' ;;
  esac
done
)SH";
    write_file_atomic(file, script);
    fs::permissions(file, fs::perms::owner_all);
    return file;
}

}  // namespace faceter::testing
