#!/usr/bin/env bash
@directives@
# Written by faceter submit; each element of the array is one run, the line of that number in the file 'runs' beside this script.
mapfile -t runs <@runs@
run=${runs[$SLURM_ARRAY_TASK_ID]}
@preparation@
# Told shortly before the time is up or when another job needs the place: the worker writes a checkpoint and ends with code 6. A program that has
# not come to listen yet dies of the signal instead (138, 143), and has lost nothing.
told=no
child=
trap 'told=yes; [ -z "$child" ] || kill -USR1 "$child" 2>/dev/null' TERM USR1
@command@ &
child=$!
[ $told = no ] || kill -USR1 "$child" 2>/dev/null
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
wait "$child"
code=$?
@end@
case $told-$code in
    yes-6 | yes-138 | yes-143) [ -e "$run/control/stop" ] || scontrol requeue "$SLURM_JOB_ID" ;;
esac
exit "$code"
