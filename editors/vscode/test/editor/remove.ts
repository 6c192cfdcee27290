import { rmSync } from 'node:fs';

/**
 * Removes a folder and all in it. What ends may write there meanwhile; what comes after a folder was listed is not removed by
 * rmSync, however often that tries.
 */
export function remove(folder: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let left = 100; ; left--) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || left === 0) throw error;
      Atomics.wait(pause, 0, 0, 50);
    }
  }
}
