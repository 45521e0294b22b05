#!/bin/bash
#SBATCH --job-name=streaming
#SBATCH --nodes=3
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=30
#
# A whole streaming run in one Slurm job:   sbatch examples/slurm-job.sh
# Kafka on the job's nodes, a source and a processor as steps of the job, results in the folder from which
# it was submitted.  Steps need --overlap and --mem=0: the pilot's agents are a step as well.
set -euo pipefail

name=job-$SLURM_JOB_ID
out=$SLURM_SUBMIT_DIR/streaming-$SLURM_JOB_ID
messages=${MESSAGES:-160}
step=(srun --overlap --mem=0 --nodes=1 --ntasks=1)

pilot start "$name" --nodes "$SLURM_JOB_NUM_NODES" --framework kafka
trap 'pilot stop "$name"' EXIT
eval "$(pilot env "$name")"
pilot-kafka topic create frames --config "$PILOT_KAFKA_CONFIG" --partitions 12 --if-absent

"${step[@]}" miniapp process gridrec --pilot "$name" --output "$out" --parallelism 2 --count "$messages" &
processor=$!
"${step[@]}" miniapp source light --pilot "$name" --phantom shepp-logan --size 256 --angles 180 --slices 32 \
  --rate 20/s --count "$messages"
wait "$processor"
