#!/bin/bash
#PBS -N streaming
#PBS -l select=3:ncpus=4
#PBS -l place=scatter:excl
#PBS -l walltime=00:30:00
#PBS -j oe
#
# A whole streaming run in one PBS job:   qsub examples/pbs-job.sh
# Kafka on the job's nodes, a source and a processor on the second and the first node, results in the folder
# from which it was submitted.  More of the environment: qsub -v PILOT_HOME,JAVA_HOME ...; -V would show all of
# it, secrets too, to everybody who calls qstat -f.
set -euo pipefail
PATH=$PBS_O_PATH # a login shell began this job and may have set its own

name=job-${PBS_JOBID%%.*}
out=$PBS_O_WORKDIR/streaming-${PBS_JOBID%%.*}
messages=${MESSAGES:-160}
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)

pilot start "$name" --nodes "$nodes" --framework kafka
trap 'pilot stop "$name"' EXIT
eval "$(pilot env "$name")"
pilot-kafka topic create frames --config "$PILOT_KAFKA_CONFIG" --partitions 12 --if-absent

miniapp process gridrec --pilot "$name" --output "$out" --parallelism 2 --count "$messages" &
processor=$!
# pbsdsh starts a task without the job's environment.
source=(miniapp source light --pilot "$name" --phantom shepp-logan --size 256 --angles 180 --slices 32
  --rate 20/s --count "$messages")
pbsdsh -n 1 -- "$(command -v env)" "PATH=$PATH" "HOME=$HOME" ${PILOT_HOME:+"PILOT_HOME=$PILOT_HOME"} "${source[@]}"
wait "$processor"
