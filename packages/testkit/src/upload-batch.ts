import type { World } from './start-world.js';

/** What POST /v1/batches was answered. */
export type UploadAnswer = { status: number; headers: Headers; body: Record<string, never> & { batch_id: string } };

/** How a file is sent: by default as `text/csv` with the world's live key. `query` begins with `?`. */
export type UploadOptions = { key?: string; idempotencyKey?: string; type?: string; fileName?: string; query?: string };

/** POST /v1/batches with a file as its body. */
export const uploadBatch = async (
  world: Pick<World, 'baseUrl' | 'account'>,
  file: string | Uint8Array,
  { key = world.account.live_key, idempotencyKey, type = 'text/csv', fileName, query = '' }: UploadOptions = {},
): Promise<UploadAnswer> => {
  const response = await fetch(`${world.baseUrl()}/v1/batches${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': type,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
    },
    body: Buffer.from(file),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as UploadAnswer['body'],
  };
};
