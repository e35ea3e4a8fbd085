#!/usr/bin/env node
import process from 'node:process';
import { EXIT } from './command/command.js';
import { runCommand } from './command/run-command.js';

const stopping = new AbortController();
const ended: { by?: NodeJS.Signals; unwritten?: true } = {};
const note = (text: string): void => void process.stderr.write(`${text}\n`);
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    ended.by = name;
    stopping.abort(new Error('Interrupted.'));
  });
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, closes the pipe. Everything else, such as a full disk, is a failure.
  if (error.code !== 'EPIPE' && !ended.unwritten) {
    ended.unwritten = true;
    note(`vat: The output could not be written: ${error.message}.`);
  }
  stopping.abort(error);
});
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
// A reader of the messages that is gone must not change the exit code: an uncaught error would be 1, not good.
process.stderr.on('error', () => undefined);

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  write,
  note,
  signal: stopping.signal,
});
// A shell then ends the script that runs the command, instead of going on with its next line.
if (ended.by && process.exitCode !== EXIT.ok) process.kill(process.pid, ended.by);
process.once('exit', () => {
  if (ended.unwritten) process.exitCode = EXIT.failed;
});
