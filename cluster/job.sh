# shellcheck shell=bash disable=SC2034
# Sourced by the job scripts, after environment.sh.

# run_or_resume LAUNCHER... -- RECIPE [OPTIONS OF `bathline run`...]
# Runs the recipe, or goes on with its result where that has a checkpoint; the exit code is left in `code`. Progress is
# reported in lines.
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

  # What `resume` needs to know of the arguments of `run`: the result, that the recipe is still the same, how long and
  # where to report, and PETSc's options.
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
  # The elements of a sweep look after their checkpoints themselves.
  if [ $element = no ] && [ -f "$result" ] && compgen -G "${result%.h5}.checkpoint.*.h5" > /dev/null; then
    "${launch[@]}" "$BATHLINE_PROGRAM" resume "$result" --recipe "$recipe" "${settings[@]}" "${common[@]}" \
      --progress lines "${options[@]}" || code=$?
  elif [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [ $element = no ]; then
    # Put back into the queue before there was a checkpoint: what the job itself has left behind may go.
    "${launch[@]}" "$BATHLINE_PROGRAM" run --overwrite --progress lines "$@" || code=$?
  else
    "${launch[@]}" "$BATHLINE_PROGRAM" run --progress lines "$@" || code=$?
  fi
  # SIGUSR1 ends a program that has not come as far as listening to it (128 + 10): it has been told to stop, too.
  if [ "$code" -eq 138 ]; then
    code=85
  fi
}
