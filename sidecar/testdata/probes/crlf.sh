echo one
echo two | od -c
