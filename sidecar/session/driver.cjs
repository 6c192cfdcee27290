// Keeps a Node: runs the calls of a session in the global scope, one after another. See package session.
'use strict';
(() => {
  const fs = require('fs'), net = require('net'), vm = require('vm'), util = require('util');
  const { Writable, Readable } = require('stream');
  const { AsyncLocalStorage } = require('async_hooks');
  const { Session } = require('inspector');
  const place = '/run/sidecar/calls/';
  const W = fs.constants.O_WRONLY;
  const answers = fs.openSync(place + 'answers', W);
  const { writeSync, openSync, closeSync, readFileSync } = fs;
  const call = new AsyncLocalStorage(); // the call that a timer or a promise belongs to
  const exit = process.reallyExit.bind(process);
  let current = 0, interrupt = null;

  // Node has no dup2(2): a closed descriptor is the lowest one that is free, and is what is opened next. Unless another
  // thread opens a file in that moment, as the C library does for itself (/sys/devices/system/cpu/online for a thread's
  // first memory) and workers do: such a file is waited for. What came elsewhere stays open meanwhile, so that the other
  // side of the pipe sees no end.
  function redirect(fd, path, flags) {
    closeSync(fd);
    let elsewhere, got;
    for (const until = Date.now() + 2000; (got = openSync(path, flags)) !== fd; Atomics.wait(pause, 0, 0, 1)) {
      if (elsewhere === undefined) elsewhere = got; else closeSync(got);
      if (Date.now() > until) throw new Error('a thread of the session keeps a file open as descriptor ' + fd);
    }
    if (elsewhere !== undefined) closeSync(elsewhere);
  }
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const late = { 1: openSync('/proc/self/fd/1', W), 2: openSync('/proc/self/fd/2', W) };

  function writeAll(fd, bytes) {
    for (let at = 0; at < bytes.length;) {
      try { at += writeSync(fd, bytes, at); } catch (e) {
        if (e.code === 'EAGAIN') continue;
        if (e.code === 'EPIPE') return;
        throw e;
      }
    }
  }
  // As Node's own for a pipe: what is written is written when write returns.
  function stream(fd) {
    const s = new Writable({
      decodeStrings: true,
      write(chunk, _, done) { writeAll(current && call.getStore() === current ? fd : late[fd], chunk); done(); },
    });
    s.fd = fd; s._type = 'pipe'; s.writable = true;
    s.destroy = s.end = () => s;
    return s;
  }
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    const s = stream(fd);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => s });
  }
  let stdin;
  const empty = () => { const r = new Readable({ read() { this.push(null); } }); r.fd = 0; return r; };
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => stdin ??= stdinOf() });
  let stdinOf = empty;

  const inspector = new Session();
  inspector.connect();
  const post = (method, params) => new Promise((resolve, reject) => inspector.post(method, params, (e, r) => e ? reject(e) : resolve(r)));
  // An object of the inspector's as itself.
  let taken;
  const take = v => { taken = v; };
  const taker = Symbol('sidecar');
  Object.defineProperty(globalThis, taker, { value: take });
  async function valueOf(o) {
    if (!o.objectId) return 'unserializableValue' in o ? unserializable(o.unserializableValue) : o.value;
    await post('Runtime.callFunctionOn', { objectId: o.objectId,
      functionDeclaration: 'function(){for(const s of Object.getOwnPropertySymbols(globalThis))if(s.description==="sidecar")globalThis[s](this)}' });
    const v = taken;
    taken = undefined;
    return v;
  }
  const unserializable = s => s.endsWith('n') ? BigInt(s.slice(0, -1)) : Number(s);

  // The inspector's evaluation in its REPL mode takes declarations again, and await; a signal ends what goes on inside.
  let expression;
  function evaluate(code) {
    expression = post('Runtime.evaluate', { expression: code, replMode: true, awaitPromise: true, userGesture: false });
  }
  function interruptible(f) {
    // breakOnSigint is about what runs in the script, and that is all that it calls.
    globalThis[step] = f;
    try { stepScript.runInThisContext({ breakOnSigint: true }); } finally { delete globalThis[step]; }
  }
  const step = '__sidecar_step';
  const stepScript = new vm.Script(step + '()', { filename: 'sidecar' });

  // A stack without our frames, which begin with the inspector's.
  const frame = /^ *at /, ours = /^ *at .*(node:inspector|\/run\/sidecar\/code\/)/;
  function clean(text) {
    let below = false;
    return text.split('\n').filter(l => {
      below = frame.test(l) && (below || ours.test(l));
      return !below;
    }).join('\n');
  }

  function show(e, where) {
    let text;
    try {
      text = typeof e === 'object' && e !== null && typeof e.stack === 'string' ? clean(util.inspect(e)) : 'Uncaught ' + util.inspect(e);
    } catch { text = 'Uncaught error that cannot be shown'; }
    process.stderr.write((where ? where + '\n' : '') + text + '\n');
  }
  // The line of the code with its mark, as Node shows it above an error that nobody catches.
  function lineOf(details, e, code, path) {
    let line = details.lineNumber, column = details.columnNumber;
    const top = typeof e?.stack === 'string' && clean(e.stack).match(/\n {4}at .*/);
    const at = top && top[0].match(/(\/run\/sidecar\/calls\/\d+\.js):(\d+):(\d+)\)?$/);
    if (at) {
      if (at[1] !== path) return '';
      [line, column] = [at[2] - 1, at[3] - 1];
    } else if (top || !(e instanceof SyntaxError)) return '';
    const text = code.split('\n')[line];
    if (text === undefined || text.length > 500) return '';
    return path + ':' + (line + 1) + '\n' + text + '\n' + text.slice(0, column).replace(/[^\t]/g, ' ') + '^\n';
  }

  async function serve(asked) {
    const path = place + asked.n, name = path + '.js';
    const answer = what => writeSync(answers, '\n' + asked.word + ' ' + what + '\n'); // on a line of its own, whatever stands there
    redirect(1, place + asked.pipes + '.out', W);
    redirect(2, place + asked.pipes + '.err', W);
    stdin = undefined; stdinOf = empty;
    if (asked.input) {
      redirect(0, path + '.in', 'r');
      stdinOf = () => fs.createReadStream(null, { fd: 0, autoClose: false });
    }
    answer('begun');
    const code = readFileSync(name, 'utf8').replace(/^\uFEFF?#!.*/, '');
    process.argv.splice(1, process.argv.length, name, ...asked.args);
    Object.assign(process.env, asked.env);
    if (asked.dir) process.chdir(asked.dir);
    process.exitCode = undefined;
    current = asked.n;
    let kind = 'done', status = 0;
    const stopped = new Promise((_, reject) => { interrupt = () => reject(interrupt); });
    stopped.catch(() => {});
    ending = () => answer('exit ' + (((process.exitCode ?? 0) & 255) >>> 0));
    await call.run(asked.n, async () => {
      try {
        try {
          interruptible(() => evaluate(code + '\n//# sourceURL=' + name));
        } catch (e) {
          if (e.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw e;
          throw interrupt;
        }
        const r = await Promise.race([expression, stopped, failed()]);
        if (r.exceptionDetails) {
          status = 1;
          const e = await valueOf(r.exceptionDetails.exception || r.result);
          show(e, lineOf(r.exceptionDetails, e, code, name));
        } else {
          const v = await valueOf(r.result);
          if (v !== undefined) process.stdout.write(util.inspect(v) + '\n');
        }
      } catch (e) {
        if (e === interrupt) { kind = 'interrupted'; status = 130; } else { status = 1; show(e); }
      }
    });
    status = status || (Number(process.exitCode ?? 0) & 255);
    process.exitCode = undefined;
    current = 0; interrupt = null; ending = null; fail = null;
    redirect(1, '/proc/self/fd/' + late[1], W);
    redirect(2, '/proc/self/fd/' + late[2], W);
    if (asked.input) redirect(0, '/dev/null', 'r');
    answer(kind + ' ' + status);
  }

  // What nobody catches ends a call and not the session.
  let fail = null, ending = null;
  const failed = () => new Promise((_, reject) => { fail = reject; }).catch(e => { throw e; });
  const uncaught = e => {
    if (fail && call.getStore() === current) { fail(e); fail = null; return; }
    writeAll(late[2], Buffer.from('Uncaught ' + clean(util.inspect(e)) + '\n'));
  };
  process.on('uncaughtException', uncaught);
  process.on('unhandledRejection', uncaught);
  process.on('SIGINT', () => { if (interrupt) interrupt(); });
  process.on('exit', () => { if (ending) ending(); });

  // Without its descriptors the session cannot go on, and who waits for the call is told so by its end.
  function lost(e) {
    writeAll(late[2], Buffer.from('the session cannot go on: ' + e.message + '\n'));
    exit(70);
  }

  redirect(0, '/dev/null', 'r');
  const requests = new net.Socket({ fd: openSync(place + 'requests', 'r'), readable: true, writable: false });
  let held = '', turn = Promise.resolve();
  requests.setEncoding('utf8');
  requests.on('data', text => {
    held += text;
    for (let i; (i = held.indexOf('\n')) >= 0; held = held.slice(i + 1)) {
      const asked = JSON.parse(held.slice(0, i));
      turn = turn.then(() => serve(asked)).catch(lost);
    }
  });
  writeSync(answers, 'ready\n');
})();
