import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StackCommands } from '../start-stack.js';

const reachable = `
import net from 'node:net';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
const reachable = (url) => new Promise((resolve) => {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1', () => { socket.destroy(); resolve('up'); });
  socket.on('error', () => resolve('down'));
});
const note = (line) => appendFileSync(process.env.EVENTS, line + '\\n');
`;

const child = (name: string) => `${reachable}
import http from 'node:http';
const server = http.createServer((req, res) => res.end(String(process.pid)));
const stop = async (why) => {
  // A running job, until the file is removed.
  while (process.env.DRAINING && existsSync(process.env.DRAINING)) await new Promise((resolve) => setTimeout(resolve, 20));
  note('${name} ' + why + ' redis=' + await reachable(process.env.REDIS_URL) + ' postgres=' + await reachable(process.env.DATABASE_URL));
  process.exit(0);
};
process.on('SIGTERM', () => stop('terminated'));
process.on('disconnect', () => stop('orphaned'));
if (process.env.FAIL === '${name}') { console.error('cannot work'); process.exit(Number(process.env.FAIL_WITH ?? 7)); }
server.listen(Number('${name}' === 'api' ? process.env.PORT : 0), '127.0.0.1', () => {
  note('${name} started ' + [process.env.METRICS_PORT, process.env.BASE_URL, process.env.SECRET_KEY.length].join(' '));
  if (process.env.NEVER_READY !== '${name}') process.send({ type: 'ready' });
});
`;

const admin = `${reachable}
const [command] = process.argv.slice(2);
note(process.argv.slice(2, 4).join(' ') + ' redis=' + await reachable(process.env.REDIS_URL) + ' postgres=' + await reachable(process.env.DATABASE_URL));
if (process.env.FAIL === command) { console.error('it is broken'); process.exit(1); }
if (command === 'account') {
  let input = '';
  for await (const chunk of process.stdin) input += chunk;
  writeFileSync(process.env.EVENTS + '.account', JSON.stringify({ args: process.argv.slice(2), input }));
}
if (process.env.FAIL !== 'nothing' && command === 'account') {
  if (process.env.ACCOUNT_EXISTS) { console.log(JSON.stringify({ error: { code: 'EXISTS', message: 'that account exists' } })); process.exit(1); }
  console.log(JSON.stringify({ account_id: 'acc_1', live_key: 'vat_live_1', test_key: 'vat_test_1' }));
}
`;

/** Fakes of the service's programs, which record their events and whether the servers were running at that time. */
export const fakeApps = (folder: string) => {
  mkdirSync(folder, { recursive: true });
  const program = (name: string, source: string) => {
    const file = path.join(folder, `${name}.mjs`);
    writeFileSync(file, source);
    return { file: process.execPath, args: [file] };
  };
  const events = path.join(folder, 'events');
  writeFileSync(events, '');
  const adminProgram = program('admin', admin);
  const commands: StackCommands = {
    api: program('api', child('api')),
    worker: program('worker', child('worker')),
    admin: (args) => ({ ...adminProgram, args: [...adminProgram.args, ...args] }),
    reportsReady: true,
  };
  return {
    commands,
    eventsFile: events,
    events: (): string[] => readFileSync(events, 'utf8').split('\n').filter(Boolean),
  };
};
