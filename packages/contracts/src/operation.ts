import type { ErrorCode } from '@vat/domain';
import type { z } from 'zod';

/** What a successful answer looks like. `schema` is absent where the body is no JSON object of ours; a 204 has none. */
export type Success = {
  description: string;
  schema?: z.ZodType;
  example?: unknown;
  headers?: readonly string[];
  contentType?: string;
};

/** One operation of the public API: what is judged, what is answered, what can be refused. */
export type Operation = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{id}` placeholders, as OpenAPI writes them. */
  path: string;
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** False for the few that need no key. */
  key?: false;
  /** The kind of id in `{id}`. */
  idPrefix?: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  bodyExample?: unknown;
  /** Bodies that are not JSON, by content type. Without a schema it is bytes. */
  uploads?: Readonly<Record<string, { schema?: z.ZodType; example?: unknown }>>;
  idempotent?: true;
  success: Readonly<Record<number, Success>>;
  /** Beyond those that every operation with a key can give. */
  errors: readonly ErrorCode[];
};
