import type { ErrorCode, IdKind } from '@vat/domain';
import type { z } from 'zod';

/** A successful response. Without `schema` its body is not JSON; a 204 has no body. */
export type Success = {
  description: string;
  schema?: z.ZodType;
  example?: unknown;
  headers?: readonly string[];
  contentType?: string;
};

/** An operation of the public API: what it takes, what it returns and which errors it can return. */
export type Operation = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{id}` as a placeholder, as in OpenAPI. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** False: the call needs no API key. */
  key?: false;
  /** Test keys are refused. */
  live?: true;
  /** False: sessions of the dashboard do not have this operation. */
  dashboard?: false;
  /** The kind of id in `{id}`. */
  id?: IdKind;
  query?: z.ZodObject;
  body?: z.ZodType;
  bodyExample?: unknown;
  /** Bodies other than JSON, by content type. Without a schema the body is bytes. */
  uploads?: Readonly<Record<string, { schema?: z.ZodType; example?: unknown }>>;
  /** The call accepts an Idempotency-Key. */
  idempotent?: true;
  success: Readonly<Record<number, Success>>;
  /** Errors that do not follow from the fields above, see {@link errorsOf}. */
  errors?: readonly ErrorCode[];
};

/** The success of an operation that answers 200 with JSON. */
export const ok = <S extends z.ZodType>(description: string, schema: S, example: unknown) => ({
  200: { description, schema, example },
});

/** The success of an operation that answers with a file to save. */
export const download = (description: string, contentType: string, example?: string) =>
  ({ 200: { description, contentType, headers: ['Content-Disposition'], example } }) as const;

/** The codes of all errors that an operation can return. */
export const errorsOf = ({
  method,
  key,
  live,
  id,
  query,
  idempotent,
  errors = [],
}: Operation): readonly ErrorCode[] => [
  ...(key === false ? [] : (['UNAUTHORIZED', 'RATE_LIMITED'] as const)),
  'INTERNAL',
  ...(live ? (['TEST_KEY_NOT_ALLOWED'] as const) : []),
  ...(query || method === 'post' || method === 'patch' ? (['BAD_REQUEST'] as const) : []),
  ...(id ? (['NOT_FOUND'] as const) : []),
  ...(idempotent ? (['IDEMPOTENCY_MISMATCH', 'IDEMPOTENCY_IN_PROGRESS'] as const) : []),
  ...errors,
];

/** The query of an operation after its schema. */
export type QueryOf<O extends Operation> = O extends { query: infer S extends z.ZodType } ? z.output<S> : undefined;

/** The JSON body of an operation after its schema. */
export type BodyOf<O extends Operation> = O extends { body: infer S extends z.ZodType } ? z.output<S> : undefined;

type HeadersOf<S extends Success> = S extends { headers: readonly (infer Name extends string)[] }
  ? { headers: { readonly [N in Name]: string } & Readonly<Record<string, string>> }
  : { headers?: Readonly<Record<string, string>> };

type ContentOf<Status, S extends Success> = S extends { schema: infer Z extends z.ZodType }
  ? { body: z.input<Z> }
  : Status extends 204
    ? unknown
    : { bytes: Uint8Array };

/** A successful response of an operation: one of its statuses with the body and the headers that belong to it. */
export type ResponseOf<O extends Operation> = {
  [Status in keyof O['success'] & number]: { status: Status } & HeadersOf<O['success'][Status]> &
    ContentOf<Status, O['success'][Status]>;
}[keyof O['success'] & number];
