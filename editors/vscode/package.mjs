// Packages the extension: node package.mjs [FILE]. With SIDECAR_BIN it bundles that program, for one kind of machine.
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { createVSIX } from '@vscode/vsce';

const packagePath = process.argv[2] ?? 'dist/sidecar.vsix';
const program = process.env.SIDECAR_BIN;
mkdirSync('dist', { recursive: true });
copyFileSync('../../LICENSE', 'LICENSE');
try {
  if (program) {
    mkdirSync('bin', { recursive: true });
    copyFileSync(program, 'bin/sidecar');
    chmodSync('bin/sidecar', 0o755);
  }
  const target = program ? { target: `${process.platform}-${process.arch}` } : {};
  await createVSIX({ packagePath, dependencies: false, allowMissingRepository: true, ...target });
} finally {
  rmSync('LICENSE', { force: true });
  rmSync('bin', { recursive: true, force: true });
}
