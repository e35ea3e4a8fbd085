import { crashesIn } from './test-servers.js';

test('a process of Postgres that crashed is found in the log, with what it was running', () => {
  const log = [
    '2026-11-27 13:44:08.930 UTC [577] LOG:  checkpoint complete',
    '2026-11-27 13:44:08.934 UTC [577] LOG:  client backend (PID 596) was terminated by signal 11: Segmentation fault',
    '2026-11-27 13:44:08.934 UTC [577] DETAIL:  Failed process was running: WITH l AS (SELECT id FROM lk FOR UPDATE)',
    '\t SELECT count(*)::int n FROM l',
    '2026-11-27 13:44:08.934 UTC [577] LOG:  terminating any other active server processes',
    '',
  ];
  expect(crashesIn(log.join('\n'))).toEqual([log.slice(1, 4).join('\n')]);
  expect(crashesIn(log[0] ?? '')).toEqual([]);
});
