import type { ResolveName } from './create-name-resolver.js';
import { judgeHost } from './judge-host.js';
import type { Network } from './parse-networks.js';
import { readEndpoint, type UrlRefusal } from './read-endpoint.js';

type JudgeUrlDeps = {
  resolve: ResolveName;
  allowed: readonly Network[];
  /** How long the name lookup may take, in milliseconds. */
  lookupDeadlineMs?: number;
};

/** An accepted URL as it was given, without outer blanks, or the rule it breaks and a sentence for the user. */
export type UrlJudgement = { ok: true; url: string } | UrlRefusal;

/**
 * Judges an endpoint's URL when it is saved. Never throws and never asks the receiver; the name is looked up, since all
 * of its addresses must be public. The sender judges again at every attempt. Source: contract part 2 §8.
 */
export const judgeUrl = async (
  text: string,
  { resolve, allowed, lookupDeadlineMs = 3_000 }: JudgeUrlDeps,
): Promise<UrlJudgement> => {
  const read = readEndpoint(text);
  if (!read.ok) return read;

  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<UrlRefusal>((settle) => {
    const message = `The name ${read.url.hostname} did not resolve within ${lookupDeadlineMs} ms.`;
    timer = setTimeout(() => settle({ ok: false, rule: 'resolution', message }), lookupDeadlineMs);
  });
  const judged = await Promise.race([judgeHost({ resolve, allowed })(read.url.hostname), late]);
  clearTimeout(timer);
  return judged.ok ? { ok: true, url: read.given } : judged;
};
