import { randomUUID } from 'node:crypto';
import { ConnectionError } from './errors.js';
import { OPERATIONS, type Operations } from './generated/api-types.js';
import { parseJson, type Send, type SendOptions } from './send.js';

/** The `operationId` of an operation of the API. */
export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = Operations[Name]['input'];
type Output<Name extends OperationName> = Operations[Name]['output'];

/** A file to upload. `name` is shown in lists and results. */
export type Upload = { bytes: Uint8Array; name?: string | undefined };

export type CallOptions = SendOptions & {
  /** Names the call, so that repeating it does not repeat its work. By default each call that can have one gets its own. */
  idempotencyKey?: string | undefined;
};

/** The arguments of an operation: its input may be left out when nothing in it is required. */
type Arguments<Name extends OperationName> =
  Record<string, never> extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions]
    : [input: Input<Name>, options?: CallOptions];

/** A successful answer of an operation: one of its statuses, with the body that belongs to it. */
export type Answer<Name extends OperationName> = Output<Name> & { headers: Headers };

/** The operations that return a list page by page. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { body: { data: unknown[]; next_cursor: string | null } }
    ? Name
    : never;
}[OperationName];
type Item<Name extends ListName> = Output<Name> extends { body: { data: (infer Row)[] } } ? Row : never;

/** The parts of an input as they are sent. */
type Parts = { id?: string; query?: Record<string, unknown>; body?: unknown; file?: Upload };

/** Throws TypeError without an id: the path would be that of the list. */
const pathOf = (template: string, { id, query = {} }: Parts): string => {
  if (template.includes('{id}') && !id) throw new TypeError('The id is empty.');
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return `${template.replace('{id}', encodeURIComponent(id ?? ''))}${text && `?${text}`}`;
};

const contentOf = ({ body, file }: Parts): { body?: string | FormData; headers: Record<string, string> } => {
  if (file) {
    const form = new FormData();
    form.set('file', new Blob([Buffer.from(file.bytes)]), file.name ?? 'file');
    return { body: form, headers: {} };
  }
  return body === undefined
    ? { headers: {} }
    : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
};

/** The error for a 2xx answer that is not the service's, such as that of a proxy. */
export const foreignAnswer = (name: OperationName, how: string): ConnectionError =>
  new ConnectionError(`${name} was answered ${how}. Check that the address is that of the service.`);

/** Returns a function that calls any operation by its name, and resolves to its status, headers and body. */
export const createCaller =
  (send: Send) =>
  async <Name extends OperationName>(name: Name, ...[input, options = {}]: Arguments<Name>): Promise<Answer<Name>> => {
    const operation: { method: string; path: string; idempotent?: true; bytes?: true } = OPERATIONS[name];
    const parts: Parts = input ?? {};
    const { body, headers } = contentOf(parts);
    const key = operation.idempotent && (options.idempotencyKey ?? randomUUID());
    const answer = await send(
      {
        ...{ method: operation.method, path: pathOf(operation.path, parts), body },
        headers: { ...headers, ...(key ? { 'Idempotency-Key': key } : {}) },
        repeatable: operation.method !== 'POST' || key !== undefined,
      },
      options,
    );
    const read = () => (operation.bytes ? answer.bytes : parseJson(answer.bytes));
    const content = answer.status === 204 ? undefined : read();
    // The page of a proxy, which must not be stored as a file of results. No operation returns HTML.
    const isPage = operation.bytes && /^text\/html\b/i.test(answer.headers.get('content-type') ?? '');
    if (content === null || isPage) throw foreignAnswer(name, isPage ? 'with a page of HTML' : 'without JSON');
    return { status: answer.status, headers: answer.headers, body: content } as unknown as Answer<Name>;
  };

export type Caller = ReturnType<typeof createCaller>;

/** Returns a function that reads all rows of a list, page by page, while they are taken. */
export const createLister = (call: Caller) =>
  async function* <Name extends ListName>(
    name: Name,
    ...[input, options]: Arguments<Name>
  ): AsyncGenerator<Item<Name>, void> {
    const { query, ...parts }: Parts = input ?? {};
    const seen = new Set<string | null | undefined>();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = { ...parts, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } };
      const args = [page, options] as unknown as Arguments<Name>;
      const { body } = (await call(name, ...args)) as unknown as {
        body: { data: Item<Name>[]; next_cursor: string | null | undefined };
      };
      // With a cursor that comes again, or none, the same pages would be read without end.
      if (!Array.isArray(body.data) || body.next_cursor === undefined || seen.has(body.next_cursor))
        throw foreignAnswer(name, 'without a next page of the list');
      yield* body.data;
      cursor = body.next_cursor;
      seen.add(cursor);
    }
  };
