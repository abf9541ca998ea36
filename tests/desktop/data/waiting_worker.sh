#!/bin/sh
# In place of faceter-worker: it has 120 examples, says of a search for "w..." or of duplicates how far it is, and then no more.
[ "$1" = session ] || exit 0
row='{"number":0,"texts":[{"role":"anchor","text":"a text","is_whole":true}],"label":null}'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"id":\([0-9]*\),.*/\1/p')
  from=$(printf '%s' "$line" | sed -n 's/.*"offset":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"cancel"'*) printf '%s\n' "$line" >> "$0.log" ;;
    *'"search":"w'*|*'"method":"data_duplicates"'*) echo '{"id":'$id',"progress":{"what":"search","done":30,"total":120}}' ;;
    *'"method":"data_examples"'*) echo '{"id":'$id',"result":{"size":120,"found":120,"offset":'$from',"examples":['$row']}}' ;;
    *) echo '{"id":'$id',"result":{"name":"pairs","use":"training","task":"retrieval","task_type":"retrieval","size":120,"licence":null,"sha256":null,"card":{}}}' ;;
  esac
done
