import { type AskUpstream, type CheckRequest, lookupOf } from '@vat/domain';
import { answerSandbox } from '@vat/vies';
import { splitVatNumber } from './split-vat-number.js';

/** Asks for a request; see {@link AskUpstream}. */
export type AskForRequest = (request: CheckRequest, signal: AbortSignal) => ReturnType<AskUpstream>;

/** Looks a request's number up at VIES, alone once VIES has refused it with requester or trader. */
export const askVies =
  (ask: AskUpstream): AskForRequest =>
  (request, signal) =>
    ask(lookupOf(request), signal);

/** Answers a test key's request within the process. Nothing is sent, so its exchange is empty and is not kept. */
export const askSandbox =
  (now: () => Date): AskForRequest =>
  (request) =>
    Promise.resolve({
      outcome: answerSandbox(
        request.national,
        {
          background: request.acceptedAt !== null,
          requester: request.requester === null ? null : splitVatNumber(request.requester),
          trader: request.trader,
        },
        request.memberState,
      ),
      exchange: {
        source: 'vies',
        startedAt: now(),
        durationMs: 0,
        request: { method: 'POST', url: 'sandbox:', headers: {}, body: new Uint8Array() },
        response: null,
        error: null,
      },
    });
