import type { BodyOf, OPERATIONS, Operation, OperationName, QueryOf, ResponseOf } from '@vat/contracts';
import type { Caller } from '@vat/db';
import type { IdempotencyKey, IdKind, Reader, StoredAnswer, StoredId } from '@vat/domain';
import type { Request, Response } from 'express';

/** A call whose parts have passed the schemas of its operation. */
type Call<O extends Operation> = {
  req: Request;
  res: Response;
  caller: O extends { key: false } ? undefined : Caller;
  /** Whose rows the caller may read. */
  reader: O extends { key: false } ? undefined : Reader;
  id: O extends { id: infer Kind extends IdKind } ? StoredId<Kind> : undefined;
  query: QueryOf<O>;
  body: BodyOf<O>;
  /** The Idempotency-Key with the fingerprint of the call, whose content is passed as parsed; `null` without a key. */
  idempotencyOf: O extends { idempotent: true } ? (content: object) => IdempotencyKey | null : undefined;
};

/** Returned by a handler that has sent the response itself, as a stream. */
export const SENT = 'sent';

/** `answer`: the bytes that are stored with the Idempotency-Key. `replayed`: they were already sent for the same key. */
export type StoredReply = { answer: StoredAnswer; replayed: boolean };

/** What a handler of an operation returns. `replayed`: the work was requested by an earlier call with the same key. */
type Reply<O extends Operation> =
  | (O extends { idempotent: true } ? StoredReply | (ResponseOf<O> & { replayed?: boolean }) : ResponseOf<O>)
  | (O extends { success: { 200: { contentType: string } } } ? typeof SENT : never);

type OperationNamed<Name extends OperationName> = (typeof OPERATIONS)[Name];

/** The handler of every operation. */
export type Routes = {
  [Name in OperationName]: (call: Call<OperationNamed<Name>>) => Promise<Reply<OperationNamed<Name>>>;
};

/** The successful response of an operation by its name. */
export type ResponseTo<Name extends OperationName> = ResponseOf<OperationNamed<Name>>;

/** A reply with JSON, of any operation. */
export type JsonReply = { status: number; body: unknown; headers?: Readonly<Record<string, string>> };

/** A JSON reply as the bytes that are sent and stored for replays. */
export const storedAnswer = <R extends JsonReply>({ status, body, headers }: R): StoredAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(body), 'utf8'),
});

/** The stored answer to a call that created something. `url`: where it is. */
export const createdAnswer = <Name extends 'createBatch' | 'createCoverage' | 'createWatch'>(
  body: Extract<ResponseTo<Name>, { body: unknown }>['body'],
  url: string,
): StoredAnswer => storedAnswer({ status: 201, body, headers: { Location: url } });
