import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OTHER_SECRET, SECRET, signedHeaders } from './signed-delivery.fixture.js';

const TOP = fileURLToPath(new URL('../../..', import.meta.url));
const guide = await readFile(path.join(TOP, 'docs/webhooks.md'), 'utf8');
const conformance = await readFile(path.join(TOP, 'packages/receiver/vectors/conformance.json'), 'utf8');

/** The texts of the guide's code blocks in one language, in order. */
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text);

/** Runs a program on its own port until `use` is done; the program prints its port as its first line. */
const withProgram = async (text: string, use: (url: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'guide-'));
  const file = path.join(folder, 'receiver.mts');
  await writeFile(file, text);
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: TOP,
    env: { WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(() => ['ended'])]);
    await use(`http://127.0.0.1:${Number(String(line))}/`);
  } finally {
    child.kill();
    await ended;
    await rm(folder, { recursive: true });
  }
};

describe('docs/webhooks.md', () => {
  it('shows the bodies of the published vectors', () => {
    const bodies = (JSON.parse(conformance) as { signatures: { body: string }[] }).signatures.map(({ body }) =>
      JSON.parse(body),
    );
    const shown = blocks('json').map((text) => JSON.parse(text) as { event: string });
    expect(shown).toHaveLength(5);
    for (const event of shown) expect(bodies).toContainEqual(event);
  });

  it('has a receiver without the package that accepts only correctly signed deliveries', async () => {
    const [, program = ''] = blocks('ts');
    const listening = '.listen(0, function () { console.log((this.address() as { port: number }).port); });';
    const body = '{"event":"webhook.test","sent_at":"2026-11-20T09:14:04.000Z","é":1}';
    await withProgram(program.replace('.listen(4000);', listening), async (url) => {
      const post = async (text: string, headers: Record<string, string>) =>
        (await fetch(url, { method: 'POST', body: text, headers })).status;
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
      expect([
        await post(body, signedHeaders({ body, sentAt: ago(0) })),
        await post(body, signedHeaders({ body, sentAt: ago(290) })),
        await post(body, signedHeaders({ body, sentAt: ago(310) })),
        await post(body, signedHeaders({ body, sentAt: ago(-310) })),
        await post(body, signedHeaders({ body, sentAt: ago(0), secret: OTHER_SECRET })),
        await post(`${body} `, signedHeaders({ body, sentAt: ago(0) })),
        await post(body, {}),
      ]).toEqual([204, 204, 401, 401, 401, 401, 401]);
    });
  });
});
