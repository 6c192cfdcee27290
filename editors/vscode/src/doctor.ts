// `sidecar doctor`: what is wrong on this machine.
import { spawn } from 'node:child_process';
import { type Outputs } from './output';

/** Shows it in a terminal. */
export function doctor(program: string, folder: string | undefined, outputs: Outputs): void {
  const screen = outputs.plain('sidecar doctor');
  const child = spawn(program, ['doctor'], { stdio: ['ignore', 'pipe', 'pipe'], ...(folder && { cwd: folder }) });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen.add('stdout', text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    screen.add('stderr', text);
  });
  child.on('error', (err) => {
    screen.note(err.message);
  });
  child.on('close', (code) => {
    screen.note(code === 0 ? 'all is well' : `exit ${code ?? 'by a signal'}`);
  });
}
