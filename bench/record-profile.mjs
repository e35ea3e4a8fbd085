// @ts-check
// Preloaded into a process that is to be profiled (`--import`): samples it until it exits and writes a .cpuprofile into
// PROFILE_DIR. Node 20 refuses its own --cpu-prof in NODE_OPTIONS, which is all that a started process is given.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import path from 'node:path';

const SAMPLE_EVERY_US = 500;

const folder = process.env.PROFILE_DIR ?? '.';
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
session.post('Profiler.start');
process.on('exit', () => {
  session.post('Profiler.stop', (error, result) => {
    if (!error) writeFileSync(path.join(folder, `${process.pid}.cpuprofile`), JSON.stringify(result.profile));
  });
});
