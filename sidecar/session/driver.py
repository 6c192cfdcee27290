# Keeps a Python interpreter: runs the calls of a session in __main__, one after another. See package session.
def _drive():
    import __future__
    import ast
    import contextvars
    import io
    import json
    import os
    import signal
    import sys
    import threading
    import traceback

    place = '/run/sidecar/calls/'
    main = sys.modules['__main__'].__dict__
    own = main.pop('__file__')
    pid = os.getpid()
    requests = open(place + 'requests', 'rb')
    answers = os.open(place + 'answers', os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    late = {1: os.dup(1), 2: os.dup(2)}  # what is printed while no call goes on, or by what is left of an earlier one
    real = {'write': os.write, 'exit': os._exit, 'getpid': os.getpid, 'print': traceback.print_exception}
    call = contextvars.ContextVar('call')  # the call that a task belongs to; a thread has it as an attribute
    lock = threading.RLock()
    state = {'call': 0, 'busy': False, 'old': frozenset(), 'flags': 0}
    futures = 0
    for name in __future__.all_feature_names:
        futures |= getattr(__future__, name).compiler_flag

    def of_whom():
        number = call.get(None)
        if number is not None:
            return number
        ident = threading.get_ident()
        number = getattr(threading._active.get(ident), '_sidecar_call', None)
        if number is not None:
            return number
        return -1 if ident in state['old'] else state['call']

    class Out(io.TextIOWrapper):
        def write(self, text):
            with lock:
                if state['call'] and of_whom() == state['call']:
                    return super().write(text)
            real['write'](late[self.fileno()], str(text).encode(self.encoding, 'backslashreplace'))
            return len(text)

    def start(self, *, start=threading.Thread.start):
        self._sidecar_call = of_whom()
        return start(self)

    def interrupted(number, frame):
        if state['busy']:
            raise KeyboardInterrupt

    def out(fd, old, lines):
        new = Out(open(fd, 'wb', closefd=False), encoding=old.encoding, errors=old.errors, line_buffering=lines)
        new.mode = 'w'
        return new

    def answer(word, what):
        real['write'](answers, ('\n%s %s\n' % (word, what)).encode())  # on a line of its own, whatever stands there

    def redirect(path, fd, mode):
        new = os.open(path, mode)
        os.dup2(new, fd)
        os.close(new)

    def begin(asked):
        path = place + str(asked['n'])
        redirect(place + asked['pipes'] + '.out', 1, os.O_WRONLY)
        redirect(place + asked['pipes'] + '.err', 2, os.O_WRONLY)
        if asked['input']:
            redirect(path + '.in', 0, os.O_RDONLY)
            sys.stdin = open(0, encoding=sys.__stdin__.encoding, errors=sys.__stdin__.errors, closefd=False)
        answer(asked['word'], 'begun')
        path += '.py'
        sys.argv = [path, *asked['args']]
        main['__file__'] = path
        os.environ.update(asked['env'] or {})
        if asked['dir']:
            os.chdir(asked['dir'])
        state['old'] = frozenset(sys._current_frames()) - {threading.get_ident()}
        call.set(asked['n'])
        state['call'] = asked['n']
        with open(path, 'rb') as f:
            return f.read(), path

    def end(asked):
        with lock:
            state['call'] = 0
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                try:
                    stream.flush()
                except Exception:
                    pass
        os.dup2(late[1], 1)
        os.dup2(late[2], 2)
        if asked['input']:
            os.dup2(nothing, 0)
            sys.stdin = sys.__stdin__

    def translate(source, path):
        flags = state['flags'] | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, path, 'exec', flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        parts = [(tree, 'exec')] if tree.body or last is None else []
        for part in tree.body[:8]:  # a future statement counts for the last expression, and for later calls
            if isinstance(part, ast.ImportFrom) and part.module == '__future__':
                for alias in part.names:
                    flags |= getattr(__future__, alias.name).compiler_flag
        if last is not None:
            parts.append((ast.Interactive([last]), 'single'))
        codes = [compile(part, path, mode, flags, dont_inherit=True) for part, mode in parts]
        state['flags'] = flags & futures
        return codes

    def wait_for(coroutine):
        import asyncio
        if 'loop' not in state:
            state['loop'] = asyncio.new_event_loop()
        loop = state['loop']
        task = loop.create_task(coroutine)
        try:
            loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            try:
                loop.run_until_complete(task)
            except BaseException:
                pass
            raise

    def execute(source, path):
        for code in translate(source, path):
            if code.co_flags & 0x80:  # CO_COROUTINE
                wait_for(eval(code, main))
            else:
                exec(code, main)

    def show(e):
        tb = e.__traceback__
        while tb is not None and tb.tb_frame.f_code.co_filename == own:
            tb = tb.tb_next
        if isinstance(e, SyntaxError) and tb is not None and tb.tb_frame.f_code.co_filename != main['__file__']:
            tb = None
        e = e.with_traceback(tb)
        if sys.excepthook is sys.__excepthook__:
            real['print'](type(e), e, tb)
        else:
            sys.excepthook(type(e), e, tb)

    def status(e):
        if e.code is None or isinstance(e.code, int):
            return (e.code or 0) & 0xff
        print(e.code, file=sys.stderr)
        return 1

    def serve(asked):
        what = 'done 0'
        try:
            try:
                source, path = begin(asked)
                state['busy'] = True
                execute(source, path)
            finally:
                state['busy'] = False
        except SystemExit as e:
            state['busy'] = False
            what = 'exit %d' % status(e)
        except BaseException as e:
            state['busy'] = False
            what = 'interrupted 130' if isinstance(e, KeyboardInterrupt) else 'done 1'
            try:
                show(e)
            except BaseException:
                pass
        if real['getpid']() != pid:  # a fork that came back here
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            real['exit'](int(what.split()[1]))
        if what.startswith('exit'):
            answer(asked['word'], what)
            raise SystemExit(int(what.split()[1]))
        end(asked)
        answer(asked['word'], what)

    os.dup2(nothing, 0)
    sys.excepthook = sys.__excepthook__
    sys.stdout = sys.__stdout__ = out(1, sys.stdout, False)
    sys.stderr = sys.__stderr__ = out(2, sys.stderr, True)
    threading.Thread.start = start
    signal.signal(signal.SIGINT, interrupted)
    real['write'](answers, b'ready\n')
    for line in iter(requests.readline, b''):
        serve(json.loads(line))


globals().pop('_drive')()
