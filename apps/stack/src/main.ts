import path from 'node:path';
import { runStack } from './run-stack.js';
import { stackCommands } from './stack-commands.js';

const commands = stackCommands({
  root: path.resolve(import.meta.dirname, '../../..'),
  node: process.execPath,
  development: process.argv.includes('--development'),
});
const { env } = process;
const endWithParent = env['npm_lifecycle_event'] !== undefined;
process.exit(await runStack({ env, commands, endWithParent }));
