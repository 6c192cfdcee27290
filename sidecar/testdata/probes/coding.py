# -*- coding: latin-1 -*-
print(len("é"), ascii("é"))
