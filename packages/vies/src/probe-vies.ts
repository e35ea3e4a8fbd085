import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got from 'got';

/** The result of one status request to VIES. `status` is the HTTP status; null when there was no answer. */
export type ViesProbe = { name: 'vies'; ok: boolean; ms: number; status: number | null; detail: string | null };

type ProbeOptions = {
  /** The REST base URL, as for the client. */
  baseUrl: string;
  userAgent: string;
  /** One deadline for name resolution, connection, TLS and the whole answer, in milliseconds. */
  timeoutMs: number;
};

/** The longest answer that is read. A real one has about 2 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Summary of a `check-status` answer; null when the text is not one. Its content is known to be wrong at times, so it
 * is only shown.
 */
const describeStatus = (text: string): string | null => {
  try {
    const { vow, countries } = JSON.parse(text) as { vow?: { available?: unknown }; countries?: unknown };
    if (!Array.isArray(countries)) return null;
    const available = countries.filter((country) => country?.availability === 'Available').length;
    return `available: ${String(vow?.available)}, member states available: ${available} of ${countries.length}`;
  } catch {
    return null;
  }
};

/** Requests the status of VIES (`GET check-status`), which needs no VAT number. Never rejects. */
export const probeVies = async ({ baseUrl, userAgent, timeoutMs }: ProbeOptions): Promise<ViesProbe> => {
  const start = performance.now();
  const agent = { http: new HttpAgent(), https: new HttpsAgent() };
  const deadline = AbortSignal.timeout(timeoutMs);
  const result = (ok: boolean, status: number | null, detail: string): ViesProbe => {
    return { name: 'vies', ok, ms: Math.round(performance.now() - start), status, detail };
  };
  let status: number | null = null;
  try {
    const stream = got.stream(`${baseUrl.replace(/\/+$/, '')}/check-status`, {
      agent,
      signal: deadline,
      headers: { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' },
      retry: { limit: 0 },
      ...{ followRedirect: false, throwHttpErrors: false, decompress: false },
    });
    stream.on('error', () => undefined); // an error after the end must not be uncaught
    stream.once('response', (response: { statusCode: number }) => {
      status = response.statusCode;
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > MAX_ANSWER_BYTES) return result(false, status, `an answer over ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    if (status !== 200) return result(false, status, `HTTP ${status}`);
    const text = Buffer.concat(chunks).toString('utf8');
    const summary = describeStatus(text);
    if (summary !== null) return result(true, status, summary);
    return result(
      false,
      status,
      text.trimStart().startsWith('<') ? 'HTML instead of JSON' : 'not the JSON of check-status',
    );
  } catch (error) {
    if (deadline.aborted) return result(false, status, 'no complete answer in time');
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return result(false, status, `connection failed: ${code}`);
  } finally {
    agent.http.destroy();
    agent.https.destroy();
  }
};
