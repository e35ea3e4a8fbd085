// @ts-check
// Preloaded with `--import` into a process to profile it: samples until the process exits and writes a .cpuprofile to
// PROFILE_DIR. Node 20 does not accept --cpu-prof in NODE_OPTIONS, the only way to pass options to a started process.
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
