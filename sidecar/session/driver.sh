# Keeps a shell: sources the calls of a session, one after another. See package session. It is no function, since what a
# function sources declares local variables; names that it needs itself begin with __sidecar. The loops are more than one
# because break and continue in what is sourced are about them.
__sidecar_at=/run/sidecar/calls __sidecar_word='' __sidecar_busy='' __sidecar_status=0 __sidecar_e=''
exec {__sidecar_requests}<$__sidecar_at/requests {__sidecar_answers}>$__sidecar_at/answers {__sidecar_out}>&1 {__sidecar_err}>&2 0</dev/null
# A signal ends the call and not the shell: return ends one function at a time, and so it is done until none is left.
trap 'if [[ $__sidecar_busy && $BASHPID == $$ ]] && (( ${#BASH_SOURCE[@]} > 1 )); then __sidecar_busy=interrupted; set -T; trap "if (( \${#BASH_SOURCE[@]} > 1 )); then return 130; fi" DEBUG; return 130; fi' INT
# With set -e a command that fails ends the call and not the shell: in a subshell that, else what is sourced, and here
# errexit waits for the next call. A syntax error would end the shell all the same, so that is looked for before.
set -E
trap '__sidecar_status=$?; if [[ $- == *e* && $__sidecar_busy ]]; then if [[ $BASHPID != $$ ]]; then exit $__sidecar_status; elif (( ${#BASH_SOURCE[@]} > 1 )); then return $__sidecar_status; else set +e; __sidecar_e=1; fi; fi' ERR
echo ready >&$__sidecar_answers
while :; do while :; do while :; do
	{ set +xv; } 2>/dev/null
	if [[ $__sidecar_busy == interrupted ]]; then trap - DEBUG; set +T; __sidecar_status=130; fi
	if [[ $- == *e* ]]; then set +e; __sidecar_e=1; fi
	if [[ $__sidecar_word ]]; then
		__sidecar_kind=$__sidecar_busy __sidecar_busy=''
		exec >&$__sidecar_out 2>&$__sidecar_err </dev/null
		printf "\n%s\n" "$__sidecar_word $__sidecar_kind $__sidecar_status" >&$__sidecar_answers
	fi
	IFS=' ' read -r -u $__sidecar_requests __sidecar_n __sidecar_word __sidecar_pipes __sidecar_in __sidecar_check __sidecar_set || exit
	exec >$__sidecar_at/$__sidecar_pipes.out 2>$__sidecar_at/$__sidecar_pipes.err
	if [[ $__sidecar_in == in ]]; then exec <$__sidecar_at/$__sidecar_n.in; fi
	printf "\n%s\n" "$__sidecar_word begun" >&$__sidecar_answers
	if [[ $__sidecar_set == set ]]; then . $__sidecar_at/$__sidecar_n.set; else set --; fi
	__sidecar_status=0 __sidecar_busy=done
	for __sidecar_i in 1; do
		if [[ $__sidecar_e || $__sidecar_check == check ]] && ! "$BASH" -n $__sidecar_at/$__sidecar_n.sh; then __sidecar_status=2; break; fi
		if [[ $__sidecar_e ]]; then __sidecar_e=''; set -e; fi
		. $__sidecar_at/$__sidecar_n.sh
		__sidecar_status=$?
	done
done; done; done
