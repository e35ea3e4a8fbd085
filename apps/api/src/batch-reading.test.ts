import { createHash } from 'node:crypto';
import { uuidOf } from '@vat/domain';
import {
  insertAccount,
  startWorld,
  type TestAccount,
  type UploadOptions,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  account = await insertAccount(world);
});
afterAll(() => world?.stop());

/** One line that needs no upstream. */
const SHORT = 'vat_number\nDE1\n';

const get = (path: string) => world.http(account.live_key).get(`/v1/batches${path}`);
const remove = (id: string) => world.http(account.live_key).method('delete', `/v1/batches/${id}`);
const upload = async (file: string | Uint8Array, options: UploadOptions = {}): Promise<string> => {
  const { status, body } = await uploadBatch(world, file, { key: account.live_key, ...options });
  expect(status).toBe(201);
  return body.batch_id;
};
const completed = (id: string) =>
  until(`${id} to complete`, async () => {
    const { body } = await get(`/${id}`);
    return body.status === 'completed' && body;
  });
type Page = { data: Record<string, string>[]; next_cursor: string | null };
/** Reads all pages of a list and runs a step between two pages. */
const pages = async (path: string, between: (page: number) => Promise<unknown> = async () => undefined) => {
  const data: Record<string, string>[] = [];
  let cursor: string | null = null;
  for (let page = 0; page === 0 || cursor !== null; page += 1) {
    const answer: { body: Page } = await get(`${path}${cursor === null ? '' : `&cursor=${cursor}`}`).expect(200);
    data.push(...answer.body.data);
    cursor = answer.body.next_cursor;
    await between(page);
  }
  return data;
};

describe('a batch that has completed', () => {
  const FILE = 'vat_number;reference\nDE136695976;good\nDE111111111;bad\nDE1;short\n12345678;nothing\n';

  test('counts its lines and shows each with its check or its error', async () => {
    await world.vies.script('DE111111111', ['invalid']);
    await world.vies.script('DE136695976', [{ kind: 'valid', name: 'Example Trading' }]);
    const id = await upload(FILE, { fileName: 'four.csv', query: '?label=Four' });
    expect(await completed(id)).toMatchObject({
      batch_id: id,
      label: 'Four',
      file_name: 'four.csv',
      total: 4,
      done: 3,
      failed: 1,
      valid: 1,
      invalid: 2,
      completed_at: expect.stringMatching(/Z$/),
    });
    const { body } = await get(`/${id}/lines`).expect(200);
    expect(body).toEqual({
      data: [
        {
          line_id: expect.stringMatching(/^lin_/),
          line: 2,
          status: 'done',
          input: 'DE136695976',
          vat_number: 'DE136695976',
          reference: 'good',
          valid: true,
          verdict: 'valid',
          name: 'Example Trading',
          check_id: expect.stringMatching(/^chk_/),
          error: null,
        },
        expect.objectContaining({ line: 3, status: 'done', valid: false, verdict: 'invalid', name: null, error: null }),
        expect.objectContaining({
          line: 4,
          status: 'done',
          valid: false,
          verdict: 'malformed',
          name: null,
          error: null,
        }),
        expect.objectContaining({
          line: 5,
          status: 'failed',
          vat_number: null,
          valid: null,
          verdict: null,
          name: null,
          check_id: null,
          error: { code: 'BAD_REQUEST', message: expect.stringMatching(/./) },
        }),
      ],
      next_cursor: null,
    });
    const verdicts = await Promise.all(
      body.data.slice(0, 3).map(async (line: { check_id: string }) => {
        const check = await world.http(account.live_key).get(`/v1/checks/${line.check_id}`).expect(200);
        return check.body.verdict;
      }),
    );
    expect(verdicts).toEqual(['valid', 'invalid', 'malformed']);
    const failed = await get(`/${id}/lines?status=failed`).expect(200);
    expect(failed.body.data.map(({ line }: { line: number }) => line)).toEqual([5]);
    const numbersOf = async (filter: string) =>
      (await get(`/${id}/lines?${filter}`).expect(200)).body.data.map(({ line }: { line: number }) => line);
    expect([await numbersOf('valid=true'), await numbersOf('valid=false')]).toEqual([[2], [3, 4]]);
    const page = (await get(`/${id}/lines?valid=false&limit=1`)).body;
    expect(await numbersOf(`valid=false&cursor=${page.next_cursor}`)).toEqual([4]);
    await get(`/${id}/lines?valid=true&cursor=${page.next_cursor}`).expect(400);
    expect((await get(`/${id}/lines?status=queued`)).body).toEqual({ data: [], next_cursor: null });
    const [third] = (await get(`/${id}/lines?valid=false`)).body.data;
    const list = JSON.stringify(['lines', uuidOf('batch', id), null]);
    const position = Buffer.from(String(uuidOf('line', third.line_id)).replaceAll('-', ''), 'hex');
    const earlier = Buffer.concat([position, createHash('sha256').update(list).digest().subarray(0, 8)]);
    // A cursor of a release without the filter `valid`.
    expect(await numbersOf(`cursor=${earlier.toString('base64url')}`)).toEqual([4, 5]);
  });

  test('is deleted with its lines, and its checks stay', async () => {
    const id = await upload(FILE);
    await completed(id);
    const [line] = (await get(`/${id}/lines`)).body.data;
    const gone = await remove(id);
    expect([gone.status, gone.text]).toEqual([204, '']);
    for (const path of ['', '/lines', '/results.csv']) expect((await get(`/${id}${path}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    expect((await get('')).body.data).toEqual([]);
    await world.http(account.live_key).get(`/v1/checks/${line.check_id}`).expect(200);
    const left = await world.sql(
      'SELECT 1 FROM batch_line l WHERE NOT EXISTS (SELECT 1 FROM batch b WHERE b.id = l.batch_id)',
    );
    expect(left).toEqual([]);
  });

  test('is deleted once, however many calls delete it concurrently', async () => {
    const id = await upload(SHORT);
    await completed(id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404, 404, 404]);
  });

  test('of 10 000 lines is deleted in one call', async () => {
    const id = await upload(`vat_number\n${'DE1\n'.repeat(10_000)}`);
    await completed(id);
    expect((await remove(id)).status).toBe(204);
  });
});

test('a running batch cannot be deleted, and shows its progress', async () => {
  // Two lookups run at a time, so the last line waits for about three seconds.
  await world.vies.state('AT', { latency_ms: 700 });
  const waiting = Array.from({ length: 8 }, (_, n) => `ATU${40_000_000 + n}\n`);
  const id = await upload(`DE136695976\n12345678\n${waiting.join('')}`);
  const early = await remove(id);
  expect([early.status, early.body]).toEqual([409, { error: { code: 'BATCH_RUNNING', message: expect.any(String) } }]);
  const seen = await until('two lines to end', async () => {
    const { body } = await get(`/${id}`);
    return body.done + body.failed >= 2 && body;
  });
  expect(seen).toMatchObject({ total: 10, failed: 1, completed_at: null, status: 'running' });
  expect(seen.valid + seen.invalid).toBe(seen.done);
  expect((await remove(id)).status).toBe(409);
  const listed = (await get('')).body.data[0];
  expect(listed.done).toBeGreaterThanOrEqual(seen.done);
  expect(await completed(id)).toMatchObject({ done: 9, failed: 1, valid: 9, invalid: 0 });
  await world.vies.reset();
});

describe('lists', () => {
  test('batches are listed newest first in pages, without repeats or gaps while more arrive', async () => {
    const ids: string[] = [];
    const one = async () => {
      const id = await upload(SHORT);
      await completed(id);
      return id;
    };
    for (let n = 0; n < 5; n += 1) ids.unshift(await one());
    const seen = await pages('?limit=2', one);
    expect(seen.map(({ batch_id }) => batch_id)).toEqual(ids);
  });

  test('lines are listed in the order of the file, also while they end', async () => {
    const numbers = Array.from({ length: 60 }, (_, n) => `ATU${10_000_000 + n}`);
    const id = await upload(`${numbers.join('\n')}\n`);
    const seen = await pages(`/${id}/lines?limit=7`);
    expect(seen.map(({ line }) => line)).toEqual(numbers.map((_, n) => n + 1));
    expect(seen.map(({ input }) => input)).toEqual(numbers);
    await completed(id);
    const again = await pages(`/${id}/lines?limit=100&status=done`);
    expect(again).toHaveLength(60);
  });

  test('lines that have ended leave the list of queued ones without others being skipped', async () => {
    const id = await upload(`${Array.from({ length: 9 }, (_, n) => `ATU${20_000_000 + n}`).join('\n')}\n`);
    const seen: number[] = [];
    await completed(id);
    // No worker runs any more: only this test changes lines, between two pages.
    const uuid = (
      await world.sql<{ id: string }>('SELECT batch_id AS id FROM batch_line WHERE input = $1', ['ATU20000000'])
    )[0]?.id;
    await world.sql(`UPDATE batch_line SET status = 'queued', check_id = NULL, valid = NULL WHERE batch_id = $1`, [
      uuid,
    ]);
    const lines = await pages(`/${id}/lines?limit=2&status=queued`, (page) =>
      world.sql(
        `UPDATE batch_line SET status = 'failed', error_code = 'BAD_REQUEST', error_message = '' WHERE batch_id = $1 AND line <= $2`,
        [uuid, page * 2 + 1],
      ),
    );
    seen.push(...lines.map(({ line }) => Number(line)));
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test.each(['limit=0', 'limit=101', 'cursor=x', 'status=open', 'status=', 'colour=red'])(
    '?%s is refused',
    async (query) => {
      const id = await upload(SHORT);
      const { status, body } = await get(`/${id}/lines?${query}`);
      expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );
});

test('a disabled account can still read and delete its batches', async () => {
  const id = await upload(SHORT);
  await completed(id);
  await world.sql('UPDATE account SET disabled_at = now() WHERE id = $1', [uuidOf('account', account.account_id)]);
  await until('uploads to be refused', async () => {
    const { status } = await uploadBatch(world, SHORT, { key: account.live_key });
    return status === 403;
  });
  for (const path of ['', `/${id}`, `/${id}/lines`, `/${id}/results.csv`]) await get(path).expect(200);
  expect((await remove(id)).status).toBe(204);
});
