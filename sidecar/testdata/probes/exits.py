import sys
print('partial', end='')
print('err', end='', file=sys.stderr)
sys.exit('with a text')
