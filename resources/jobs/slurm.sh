#!/usr/bin/env bash
@directives@
# Written by faceter submit; each element of the array is one run, the line of that number in the file 'runs' beside this script.
mapfile -t runs <@runs@
run=${runs[$SLURM_ARRAY_TASK_ID]}
element=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID   # SLURM_JOB_ID of its last element stands for the whole array
@preparation@
# Told shortly before the time is up (USR1), or when another job needs the place or somebody cancels this one (TERM): the worker writes a checkpoint and
# ends with code 6. A program that has not come to listen yet dies of the signal instead (138, 143), and has lost nothing.
told=no
child=
trap 'told=warned; [ -z "$child" ] || kill -USR1 "$child" 2>/dev/null' USR1
trap '[ $told = warned ] || told=ended; [ -z "$child" ] || kill -USR1 "$child" 2>/dev/null' TERM
@command@ &
child=$!
[ $told = no ] || kill -USR1 "$child" 2>/dev/null
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
wait "$child"
code=$?
@end@
case $told-$code in
    warned-6 | warned-138 | warned-143) [ -e "$run/control/stop" ] || scontrol requeue "$element" ;;
    # What was cancelled is not to come back; the job that has the place now set PreemptTime.
    ended-6 | ended-138 | ended-143) [ -e "$run/control/stop" ] || ! scontrol show job "$element" | grep -q 'PreemptTime=[0-9]' || scontrol requeue "$element" ;;
esac
exit "$code"
