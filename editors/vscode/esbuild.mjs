// Bundles the extension into dist/extension.js; with --watch again at each change.
import { build, context } from 'esbuild';

const options = {
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode'],
  minify: !process.argv.includes('--watch'),
  sourcemap: process.argv.includes('--watch'),
  logLevel: 'warning',
};
if (process.argv.includes('--watch')) await (await context(options)).watch();
else await build(options);
