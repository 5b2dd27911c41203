# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this project: where things are, and an environment in which MPI programs start anywhere.
# Everything that the user has set already wins.

BATHLINE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BATHLINE_PROGRAM=$BATHLINE_ROOT/build/bathline

# The analysis needs h5py and matplotlib. Debian's packages belong to this interpreter; another python3 may come
# first on PATH without having them. On a cluster, set it to the python3 of your modules.
: "${BATHLINE_PYTHON:=/usr/bin/python3}"

# Asked before the next lines, because nproc counts threads where OMP_NUM_THREADS is set.
BATHLINE_CORES=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# One process is one core: threads inside the linear algebra would compete with the ranks.
: "${OMP_NUM_THREADS:=1}" "${OPENBLAS_NUM_THREADS:=1}"

# More ranks than cores are slow but allowed.
: "${OMPI_MCA_rmaps_base_oversubscribe:=1}"

# In a container without the right to trace processes, OpenMPI's single-copy messages print an error per message.
# Our messages are small: nothing is lost without them.
: "${OMPI_MCA_btl_vader_single_copy_mechanism:=none}"

# Outside a job the cores are shared with whatever else runs. A rank that waits then gives its core away instead of
# spinning on it, and no rank is tied to a core that another program is tied to: with many messages in a short run
# this is the difference between a second and minutes. Inside a job, Slurm and the site decide.
if [ -z "${SLURM_JOB_ID:-}" ]; then
  : "${OMPI_MCA_mpi_yield_when_idle:=1}" "${OMPI_MCA_hwloc_base_binding_policy:=none}"
  export OMPI_MCA_mpi_yield_when_idle OMPI_MCA_hwloc_base_binding_policy
fi

# Where there is no fast network, looking for one takes every start a quarter of a second: a library that comes with
# Open MPI measures the processor's clock first.
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ] && ! compgen -G '/sys/class/infiniband*' > /dev/null &&
  ! compgen -G '/sys/class/cxi*' > /dev/null && ! compgen -G '/dev/hfi1*' > /dev/null; then
  : "${OMPI_MCA_pml:=ob1}" "${OMPI_MCA_btl:=self,vader,tcp}"
  export OMPI_MCA_pml OMPI_MCA_btl
fi

export BATHLINE_PYTHON OMP_NUM_THREADS OPENBLAS_NUM_THREADS
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism

# OpenMPI refuses root unless told twice. Only where we are root, so that nobody else's environment says so.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Fills the array `launch` with the words that start a program on $1 ranks: mpirun, or srun inside a Slurm job.
set_launch() {
  if [ -n "${SLURM_JOB_ID:-}" ]; then
    launch=(srun --mpi=pmix -n "$1")
  else
    launch=(mpirun -n "$1")
  fi
}
