set -e
false
echo no
