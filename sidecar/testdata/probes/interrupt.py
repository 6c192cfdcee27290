import os, signal, threading
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
os.kill(os.getpid(), signal.SIGINT)
for i in range(10**9): pass
