import type { EnrichmentSourceName } from '@vat/domain';
import { openCaller, type RecordedCall } from '@vat/outgoing';
import type { SourceDefinition, SourceRequest } from './source-definition.js';

/** The longest answer that is read; a longer one counts as incomplete. */
export const ANSWER_CAP_BYTES = 512 * 1024;

/** Makes one request to a source; `timeoutMs` is the deadline of the whole call. Never rejects. */
export type CallSource = (request: SourceRequest, timeoutMs: number, signal?: AbortSignal) => Promise<RecordedCall>;

/** A base URL without a trailing slash. Throws a TypeError when it is not http or https. */
const validBaseUrl = (name: EnrichmentSourceName, url: string): string => {
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`The URL of ${name} is not an http or https URL.`);
  return url.replace(/\/+$/, '');
};

type SourceCallsOptions = {
  /** Base URLs that differ from those of the definitions. */
  urls: Partial<Record<EnrichmentSourceName, string>>;
  userAgent: string;
  proxyUrl?: string | undefined;
  now: () => Date;
};

/** The calls of a process to its sources. `callsOf` throws a TypeError when the source's URL is not http or https. */
export const openSourceCalls = ({ urls, userAgent, proxyUrl, now }: SourceCallsOptions) => {
  const { call, close } = openCaller({ userAgent, maxAnswerBytes: ANSWER_CAP_BYTES, now, proxyUrl });
  const callsOf = ({ name, url, accept = 'application/json' }: SourceDefinition): CallSource => {
    const baseUrl = validBaseUrl(name, urls[name] ?? url);
    return ({ path, json }, timeoutMs, signal) =>
      call({
        ...{ url: `${baseUrl}${path}`, deadlineMs: timeoutMs, signal },
        ...(json === undefined
          ? { headers: { accept } }
          : { headers: { accept, 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(json)) }),
      });
  };
  return { callsOf, close };
};
