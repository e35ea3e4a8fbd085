import path from 'node:path';
import { runStack, stackCommands } from './run-stack.js';

const commands = stackCommands({
  root: path.resolve(import.meta.dirname, '../../..'),
  node: process.execPath,
  development: process.argv.includes('--development'),
});
const { env } = process;
const endWithParent = env['npm_lifecycle_event'] !== undefined;
process.exit(await runStack({ env, commands, endWithParent }));
