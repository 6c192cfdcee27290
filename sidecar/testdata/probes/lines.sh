f() { echo "${FUNCNAME[*]} ${BASH_SOURCE[*]} ${BASH_LINENO[*]} $LINENO"; caller; caller 0; }
f a b
trap 'echo "err at $LINENO: $BASH_COMMAND"' ERR; trap 'echo exit $?' EXIT
false
cd /tmp; cd -; echo "$OLDPWD"
set -x; : traced; { set +x; } 2>/dev/null
nosuchcommand
read -r one; echo "read $one"; read -r two; echo "$two"; read -r three || echo end
bash -c 'env | sort; echo "$0 $- ${OLDPWD-unset}"; ulimit -a'
sleep 0.01 & wait $!; echo $?
(exit 3); echo $?; x=$(kill -l); echo ${#x}
shopt -s extdebug; g() { echo "${BASH_ARGV[*]} / ${BASH_ARGC[*]}"; }; g q r
set -u; echo $undefined_variable
