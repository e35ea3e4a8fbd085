import { callChecks, NUMBERED_STATES, numberOf, startWorld } from '@vat/testkit';

test('probe', async () => {
  const world = await startWorld({ workers: 1, settings: { UPSTREAM_WINDOW: '500ms', LOG_LEVEL: 'warn' } });
  try {
    await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
    for (let r = 0; r < 5; r += 1) {
      await Promise.all(Array.from({ length: 1 }, () => world.newAccount()));
      const answers = await callChecks(world, Array.from({ length: 60 }, (_, i) => numberOf(NUMBERED_STATES[i % 16] ?? 'DE', i + r * 1000)));
      const by: Record<number, number> = {};
      for (const a of answers) by[a.status] = (by[a.status] ?? 0) + 1;
      process.stdout.write(JSON.stringify([by, Math.max(...answers.map((a) => a.ms)), Math.min(...answers.map((a) => a.ms))]) + '\n');
    }
    process.stdout.write(world.apis.flatMap((w) => w.lines()).filter((l) => l.includes('"level":"error"')).map((l) => l.slice(0, 1400)).slice(0, 6).join('\n') + '\n');
  } finally { await world.stop(); }
}, 90_000);
