cat <<X
$0 $1 $2
X
echo "$BASH_SOURCE"; source "$0.none"; echo $?; printf "%s
" "${!BASH@}"