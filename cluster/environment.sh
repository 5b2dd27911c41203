# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this project: paths, and an environment in which MPI programs start on any machine.
# Variables set by the user take precedence.

BATHLINE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BATHLINE_PROGRAM=$BATHLINE_ROOT/build/bathline

# The analysis needs h5py and matplotlib. Debian installs them for this interpreter; another python3 that is first on
# PATH may lack them. On a cluster, set this variable to the python3 of your modules.
: "${BATHLINE_PYTHON:=/usr/bin/python3}"

# nproc returns OMP_NUM_THREADS where it is set.
BATHLINE_CORES=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# Each process uses one core: threads of the linear algebra would compete with the ranks.
: "${OMP_NUM_THREADS:=1}" "${OPENBLAS_NUM_THREADS:=1}"

# Allow more ranks than cores, although they are slow.
: "${OMPI_MCA_rmaps_base_oversubscribe:=1}"

# In a container without the right to trace processes, OpenMPI's single-copy mechanism prints an error for each message.
# The messages of this program are too small to profit from it.
: "${OMPI_MCA_btl_vader_single_copy_mechanism:=none}"

# Outside a job the cores are shared with other programs. Waiting ranks then yield their cores instead of spinning, and
# ranks are not bound to cores; otherwise short runs with many messages may take minutes instead of a second. Inside a job,
# Slurm and the site decide.
if [ -z "${SLURM_JOB_ID:-}" ]; then
  : "${OMPI_MCA_mpi_yield_when_idle:=1}" "${OMPI_MCA_hwloc_base_binding_policy:=none}"
  export OMPI_MCA_mpi_yield_when_idle OMPI_MCA_hwloc_base_binding_policy
fi

# Without a fast network, Open MPI's search for one takes a quarter of a second at every start, because a library first
# measures the processor's clock.
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ] && ! compgen -G '/sys/class/infiniband*' > /dev/null &&
  ! compgen -G '/sys/class/cxi*' > /dev/null && ! compgen -G '/dev/hfi1*' > /dev/null; then
  : "${OMPI_MCA_pml:=ob1}" "${OMPI_MCA_btl:=self,vader,tcp}"
  export OMPI_MCA_pml OMPI_MCA_btl
fi

export BATHLINE_PYTHON OMP_NUM_THREADS OPENBLAS_NUM_THREADS
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism

# OpenMPI refuses to run as root unless both variables are set.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Sets the array `launch` to the command that starts a program on $1 ranks: mpirun, or srun inside a Slurm job.
set_launch() {
  if [ -n "${SLURM_JOB_ID:-}" ]; then
    launch=(srun --mpi=pmix -n "$1")
  else
    launch=(mpirun -n "$1")
  fi
}
