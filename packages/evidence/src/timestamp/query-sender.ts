import { userAgentOf } from '@vat/domain';
import { openCaller, type RecordedCall } from '@vat/outgoing';
import { TimestampRefused } from './timestamp.js';

/** Sends one TimeStampReq and resolves to the complete response. Rejects only with `TimestampRefused`. */
export type SendQuery = (query: Uint8Array, signal?: AbortSignal) => Promise<Uint8Array>;

type QuerySenderOptions = {
  /** http or https; user info becomes basic authentication. */
  url: string;
  /** One deadline for name lookup, connection, TLS, query and complete response, in milliseconds. */
  deadlineMs: number;
  userAgent?: string | undefined;
  proxyUrl?: string | undefined;
  now: () => Date;
};

/** A sender with its own connections; `close` aborts its queries in flight. */
export type QuerySender = { send: SendQuery; close: () => void };

/** A token with a chain of four certificates has about 7 KiB. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_TYPE = 'application/timestamp-reply';

const validateHead = ({ status, headers }: NonNullable<RecordedCall['response']>): void => {
  if (status !== 200) throw new TimestampRefused('http_status', `the authority answered HTTP ${status}`);
  const type = headers['content-type'] ?? 'none';
  if (type.split(';')[0]?.trim().toLowerCase() !== ANSWER_TYPE)
    throw new TimestampRefused('content_type', `the authority answered with content type ${type.slice(0, 100)}`);
};

/** The complete response of a call. No message contains the URL, which may contain a password. */
const readAnswer = ({ end, error, errorCode, response }: RecordedCall): Uint8Array => {
  if (end === 'aborted') throw new TimestampRefused('aborted', 'the query was aborted');
  if (errorCode === 'ERR_UPGRADED') throw new TimestampRefused('http_status', 'the authority answered HTTP 101');
  if (response) validateHead(response);
  if (end === 'complete' && response) return response.body;
  if (end === 'failed') throw new TimestampRefused('unreachable', `the authority could not be reached (${errorCode})`);
  throw new TimestampRefused(end === 'too_long' ? 'too_long' : 'deadline', error ?? end);
};

/** A sender of queries by HTTP (RFC 3161 §3.4). It does not retry: the caller decides about retries. */
export const createQuerySender = ({
  url,
  deadlineMs,
  userAgent = userAgentOf(),
  proxyUrl,
  now,
}: QuerySenderOptions): QuerySender => {
  const headers = { 'content-type': 'application/timestamp-query', accept: ANSWER_TYPE };
  const { call, close } = openCaller({ userAgent, headers, maxAnswerBytes: MAX_ANSWER_BYTES, now, proxyUrl });
  return { send: async (body, signal) => readAnswer(await call({ url, body, deadlineMs, signal })), close };
};
