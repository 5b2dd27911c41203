# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this project: paths, and an environment in which MPI programs start on any machine.
# Variables set by the user take precedence.

BATHLINE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BATHLINE_PROGRAM=$BATHLINE_ROOT/build/bathline

# The lines `module load ...` of a site, and variables for all scripts and jobs, are in one file.
BATHLINE_MODULES=${BATHLINE_MODULES:-$BATHLINE_ROOT/modules.sh}
if [ -f "$BATHLINE_MODULES" ]; then
  # Module systems use unset variables and commands that fail.
  bathline_flags=$-
  set +eu
  source "$BATHLINE_MODULES"
  case $bathline_flags in *e*) set -e ;; esac
  case $bathline_flags in *u*) set -u ;; esac
fi

# The analysis needs h5py and matplotlib. Debian installs them for its own interpreter; another python3 that is first on
# PATH may lack them. Elsewhere it is the python3 of the modules.
if [ -z "${BATHLINE_PYTHON:-}" ]; then
  BATHLINE_PYTHON=/usr/bin/python3
  if [ -n "${BATHLINE_SKIP_INSTALL:-}" ] || ! command -v apt-get > /dev/null; then
    BATHLINE_PYTHON=$(command -v python3 || echo /usr/bin/python3)
  fi
fi

# nproc returns OMP_NUM_THREADS where it is set.
BATHLINE_CORES=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# Each process uses one core: threads of the linear algebra would compete with the ranks.
: "${OMP_NUM_THREADS:=1}" "${OPENBLAS_NUM_THREADS:=1}"
export BATHLINE_PYTHON OMP_NUM_THREADS OPENBLAS_NUM_THREADS

# What starts a program on all tasks of a job, or with -n on some ranks. It is not exported: jobs have another one than the
# node from which they are submitted.
if [ -z "${BATHLINE_LAUNCH:-}" ]; then
  if [ -n "${SLURM_JOB_ID:-}" ]; then
    BATHLINE_LAUNCH="srun --mpi=pmix"
  elif [ -n "${PBS_JOBID:-}" ]; then
    BATHLINE_LAUNCH=mpiexec
  else
    BATHLINE_LAUNCH=mpirun
  fi
fi

# Inside a job the scheduler and the site decide how ranks are placed and how they send messages.
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ]; then
  # Outside, the cores are shared with other programs. Waiting ranks then yield their cores instead of spinning, and ranks are
  # not bound to cores; otherwise short runs with many messages may take minutes instead of a second.
  : "${OMPI_MCA_mpi_yield_when_idle:=1}" "${OMPI_MCA_hwloc_base_binding_policy:=none}"
  export OMPI_MCA_mpi_yield_when_idle OMPI_MCA_hwloc_base_binding_policy

  # Root without the right to trace processes (CAP_SYS_PTRACE, bit 19) is root in a container. There Open MPI's single-copy
  # mechanism prints an error for each message, and the number of cores may be smaller than what was asked for.
  if [ "$(id -u)" -eq 0 ] && ! (((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 19) & 1)); then
    : "${OMPI_MCA_btl_vader_single_copy_mechanism:=none}" "${OMPI_MCA_rmaps_base_oversubscribe:=1}"
    export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_rmaps_base_oversubscribe
  fi

  # Without a fast network, Open MPI's search for one takes a quarter of a second at every start, because a library first
  # measures the processor's clock.
  if ! compgen -G '/sys/class/infiniband*' > /dev/null && ! compgen -G '/sys/class/cxi*' > /dev/null &&
    ! compgen -G '/dev/hfi1*' > /dev/null; then
    : "${OMPI_MCA_pml:=ob1}" "${OMPI_MCA_btl:=self,vader,tcp}"
    export OMPI_MCA_pml OMPI_MCA_btl
  fi
fi

# OpenMPI refuses to run as root unless both variables are set.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Sets the array `launch` to the command that starts a program on $1 ranks.
set_launch() {
  read -ra launch <<< "$BATHLINE_LAUNCH -n $1"
  # More ranks than cores are slow, but allowed where no job limits them.
  if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}" ] && [ "$1" -gt "$BATHLINE_CORES" ]; then
    export OMPI_MCA_rmaps_base_oversubscribe=1
  fi
}
