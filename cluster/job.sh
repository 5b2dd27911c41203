# shellcheck shell=bash disable=SC2034
# Sourced by the job scripts, after environment.sh.

# run_or_resume LAUNCHER... -- RECIPE [OPTIONS OF `bathline run`...]
# Runs the recipe, or resumes its result if that has a checkpoint, with progress in lines. Sets `code` to the exit code.
run_or_resume() {
  local launch=()
  while [ "$1" != -- ]; do
    launch+=("$1")
    shift
  done
  shift
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
      --set | --unset) settings+=("${arguments[i]}" "${arguments[++i]-}") ;;
      --set=* | --unset=*) settings+=("${arguments[i]}") ;;
      --element)
        element=yes
        ((++i))
        ;;
      --element=*) element=yes ;;
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
  # `run --element` resumes from checkpoints by itself.
  if [ $element = no ] && [ -f "$result" ] && compgen -G "${result%.h5}.checkpoint.*.h5" > /dev/null; then
    "${launch[@]}" "$BATHLINE_PROGRAM" resume "$result" --recipe "$recipe" "${settings[@]}" "${common[@]}" \
      --progress lines "${options[@]}" || code=$?
  elif [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [ $element = no ]; then
    # Requeued before the first checkpoint: the job may overwrite its own result.
    "${launch[@]}" "$BATHLINE_PROGRAM" run --overwrite --progress lines "$@" || code=$?
  else
    "${launch[@]}" "$BATHLINE_PROGRAM" run --progress lines "$@" || code=$?
  fi
  # SIGUSR1 kills a program that does not handle it yet (exit code 128 + 10); this counts as stopped on request.
  if [ "$code" -eq 138 ]; then
    code=85
  fi
}
