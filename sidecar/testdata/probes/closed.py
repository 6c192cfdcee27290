import os
class Loud:
    def __del__(self): print('deleted')
loud = Loud()
from __main__ import loud as again
print(again is loud, exec, input(), input())
def future() -> undefined: pass
