# shellcheck shell=bash disable=SC2034
# Sourced by the job scripts, and by those that submit them, after environment.sh.

# follow_up_options OPTIONS OF SBATCH...
# Sets the array `follow_up` to those options that a small job afterwards needs as well, such as --account, --partition and --qos:
# all but those about size, time, names and files.
follow_up_options() {
  local word kept=no
  follow_up=()
  for word in "$@"; do
    case $word in
      -[NnctaoeJdbBwFmGWH]* | --node* | --ntasks* | --cpus-per-* | --time* | --array* | --output* | --error* | --job-name* | \
        --dependency* | --begin* | --signal* | --mem* | --exclusive* | --distribution* | --open-mode* | --wait* | --switches* | \
        --requeue | --no-requeue | --hold | --sockets-per-node* | --cores-per-socket* | --core-spec* | --contiguous | --gpus* | --gres* | --threads-per-core* | --hint* | --parsable) kept=no ;;
      -*)
        kept=yes
        follow_up+=("$word")
        ;;
      # The value of the option before.
      *) [ $kept = no ] || follow_up+=("$word") ;;
    esac
  done
}

# run_or_resume RECIPE [OPTIONS OF `bathline run`...]
# Runs the recipe on all tasks of the job, or resumes its result if that has a checkpoint, with progress in lines. Sets `code` to
# the exit code.
run_or_resume() {
  local launch=()
  read -ra launch <<< "$BATHLINE_LAUNCH"
  if [ ! -x "$BATHLINE_PROGRAM" ]; then
    echo "job: $BATHLINE_PROGRAM is not built; run cluster/build on a login node first" >&2
    exit 2
  fi

  # `resume` needs these arguments of `run`: the result, the recipe with its settings (to check that it is unchanged), the
  # wall time, the log, and PETSc's options.
  local arguments=("$@") recipe="" result="" element=no settings=() common=() options=() i
  for ((i = 0; i < ${#arguments[@]}; ++i)); do
    case ${arguments[i]} in
      --)
        options=("${arguments[@]:i}")
        break
        ;;
      -o | --output) result=${arguments[++i]-} ;;
      --output=*) result=${arguments[i]#*=} ;;
      -o?*) result=${arguments[i]#-o} ;;
      --set | --unset) settings+=("${arguments[i]}" "${arguments[++i]-}") ;;
      --set=* | --unset=*) settings+=("${arguments[i]}") ;;
      --element | --elements)
        element=yes
        ((++i))
        ;;
      --element=* | --elements=*) element=yes ;;
      --wall-time | --log-json) common+=("${arguments[i]}" "${arguments[++i]-}") ;;
      --wall-time=* | --log-json=*) common+=("${arguments[i]}") ;;
      -*) ;;
      *) recipe=${recipe:-${arguments[i]}} ;;
    esac
  done
  if [ -z "$recipe" ]; then
    echo "job: give a recipe: RECIPE.toml -o FILE.h5" >&2
    exit 2
  fi
  [ -n "$result" ] || result=$(basename "$recipe" .toml).h5

  code=0
  local resume=("${launch[@]}" "$BATHLINE_PROGRAM" resume "$result" --recipe "$recipe" "${settings[@]}" "${common[@]}"
    --progress lines "${options[@]}")
  # `run --element` resumes from checkpoints by itself.
  if [ $element = no ] && [ -f "$result" ] && compgen -G "${result%.h5}.checkpoint.*.h5" > /dev/null; then
    "${resume[@]}" || code=$?
  elif [ "${BATHLINE_CHAIN:-0}" -gt 1 ] && [ $element = no ] && [ -f "$result" ] && "${resume[@]}"; then
    # The job before in the chain completed the result.
    :
  elif [ $((${SLURM_RESTART_COUNT:-0} + ${BATHLINE_CHAIN:-1})) -gt 1 ] && [ $element = no ]; then
    # Begun before, but stopped before the first checkpoint: the job may overwrite its own result.
    "${launch[@]}" "$BATHLINE_PROGRAM" run --overwrite --progress lines "$@" || code=$?
  else
    "${launch[@]}" "$BATHLINE_PROGRAM" run --progress lines "$@" || code=$?
  fi
  # SIGUSR1 kills a program that does not handle it yet (exit code 128 + 10); this counts as stopped on request.
  if [ "$code" -eq 138 ]; then
    code=85
  fi
}
