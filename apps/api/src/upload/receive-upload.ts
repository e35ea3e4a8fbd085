import { createHash } from 'node:crypto';
import type { Caller } from '@vat/db';
import type { IdempotencyKey, StoredAnswer } from '@vat/domain';
import type { z } from 'zod';
import { callerAgain, contextOf } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import { parseQuery } from '../http/parse.js';
import type { Routes, StoredReply } from '../http/route.js';
import type { SendFile } from '../results/send-file.js';
import type { InTurn } from '../turns.js';
import { fieldsOf, type ReadUpload } from './read-upload.js';
import type { Upload } from './upload.js';

/** What the routes of uploaded files need, whatever the files contain. */
export type UploadRoutesDeps = {
  readUpload: ReadUpload;
  /** A few uploads of an account at a time: each is in memory as a whole while it is read. A waiting one is not read. */
  uploadInTurn: InTurn;
  /** A few uploads of the whole process are parsed and stored at a time, accounts in turn. */
  storeInTurn: InTurn;
  sendFile: SendFile;
  now: () => Date;
  baseUrl: () => string;
};

type UploadCall = Pick<Parameters<Routes['createBatch']>[0], 'req' | 'res' | 'caller' | 'idempotencyOf'>;

/**
 * Receives a file with the fields of `schema` and stores it with `store`, which gets the call's Idempotency-Key and the caller as
 * of then: a file may take a minute to arrive.
 */
export const receiveUpload = async <Schema extends z.ZodObject>(
  { readUpload, uploadInTurn, storeInTurn }: UploadRoutesDeps,
  { req, res, caller: { accountId }, idempotencyOf }: UploadCall,
  schema: Schema,
  store: (
    upload: Upload,
    fields: z.output<Schema>,
    call: { caller: Caller; idempotency: IdempotencyKey | null },
  ) => Promise<{ kind: string; answer: StoredAnswer }>,
): Promise<StoredReply> => {
  const gone = goneOf(res);
  const receiveAndStore = async () => {
    const upload = await readUpload(req, res, Object.keys(schema.shape));
    const fields = parseQuery(schema, fieldsOf(upload, req.query));
    const { charset, bytes } = upload;
    const storeForCaller = async () => {
      const caller = await callerAgain(res);
      const file = createHash('sha256').update(bytes).digest('hex');
      return store(upload, fields, { caller, idempotency: idempotencyOf({ ...fields, charset, file }) });
    };
    return storeInTurn(accountId, storeForCaller, gone);
  };
  // Otherwise the time that it waits for its turn would be taken from that for its body.
  contextOf(res).limitsBody = true;
  const { kind, answer } = await uploadInTurn(accountId, receiveAndStore, gone);
  return { answer, replayed: kind === 'replay' };
};
