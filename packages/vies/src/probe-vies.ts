import { isHtml, openCaller, type Probe, readJson } from '@vat/outgoing';
import { MAX_ANSWER_BYTES } from './create-vies-client.js';

type ProbeOptions = {
  /** The REST base URL, as for the client. */
  baseUrl: string;
  userAgent: string;
  proxyUrl?: string | undefined;
  /** One deadline for name resolution, connection, TLS and the whole answer, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
};

/** Summary of a `check-status` answer; null when it is not one. Its content is known to be wrong at times, so it is only shown. */
const describeStatus = (body: Uint8Array): string | null => {
  const { vow, countries } = (readJson(body) ?? {}) as { vow?: { available?: unknown }; countries?: unknown };
  if (!Array.isArray(countries)) return null;
  const available = countries.filter((country) => country?.availability === 'Available').length;
  return `available: ${String(vow?.available)}, member states available: ${available} of ${countries.length}`;
};

/** Requests the status of VIES (`GET check-status`), which needs no VAT number. Never rejects. */
export const probeVies = async ({ baseUrl, userAgent, proxyUrl, timeoutMs, now }: ProbeOptions): Promise<Probe> => {
  const headers = { accept: 'application/json' };
  const { call, close } = openCaller({ userAgent, headers, maxAnswerBytes: MAX_ANSWER_BYTES, now, proxyUrl });
  const url = `${baseUrl.replace(/\/+$/, '')}/check-status`;
  const { end, error, errorCode, response, durationMs: ms } = await call({ url, deadlineMs: timeoutMs });
  close();
  const status = response?.status ?? null;
  const summary = status === 200 && response ? describeStatus(response.body) : null;
  const describe = () => {
    if (end === 'deadline') return 'no complete answer in time';
    if (end === 'failed') return `connection failed: ${errorCode}`;
    if (end !== 'complete' || !response) return error;
    if (status !== 200) return `HTTP ${status}`;
    return isHtml(response.body) ? 'HTML instead of JSON' : 'not the JSON of check-status';
  };
  if (end === 'complete' && summary !== null) return { name: 'vies', ok: true, ms, status, detail: summary };
  return { name: 'vies', ok: false, ms, status, detail: describe() };
};
