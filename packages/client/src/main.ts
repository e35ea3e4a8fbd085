#!/usr/bin/env node
import process from 'node:process';
import { runCommand } from './command/run-command.js';

// A reader that has seen enough, such as head, closes the pipe.
process.stdout.on('error', () => process.exit());

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stopping.abort(new Error('Interrupted.')));

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  signal: stopping.signal,
});
