import sys
print(1)
if True print(2)
