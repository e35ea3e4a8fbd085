import type { ServerResponse } from 'node:http';
import { renderAnswer, sendAnswer } from './answer.js';
import type { Script } from './script.js';
import type { Journal, JournalEntry, Traffic } from './traffic.js';
import { messageOf, readWireLookup, sendJson, statusOf, wireError } from './wire.js';

type HandleLookupDeps = { script: Script; traffic: Traffic; journal: Journal };
type IncomingLookup = { body: unknown; testService: boolean; response: ServerResponse };

const preciseNow = (): number => performance.timeOrigin + performance.now();

/** Answers one lookup as scripted. The lookup is in flight until its answer is sent or its client has disconnected. */
export const handleLookup = ({ script, traffic, journal }: HandleLookupDeps) => {
  let consultations = 0;

  return ({ body, testService, response }: IncomingLookup): void => {
    const lookup = readWireLookup(body);
    if (typeof lookup === 'string') {
      const code = lookup;
      sendJson(response, statusOf(code), wireError(code, messageOf(code)));
      return;
    }

    const inFlight = traffic.enter(lookup.memberState);
    const { answer, delayMs } = script.play(lookup, inFlight, testService);
    const entry: JournalEntry = {
      at: preciseNow(),
      finished_at: null,
      member_state: lookup.memberState,
      number: lookup.memberState + lookup.national,
      requester: lookup.requester,
      trader: lookup.trader,
      answer: answer.kind,
      code: answer.kind === 'error' ? answer.code : null,
      in_flight_at_start: inFlight,
    };
    journal.add(entry);

    const send = () => {
      consultations += 1;
      const consultation = `WAPI${consultations.toString(36).toUpperCase().padStart(12, '0')}`;
      sendAnswer(response, answer.kind, renderAnswer(answer, { lookup, now: new Date(), consultation }));
    };
    let timer: NodeJS.Timeout | undefined;
    response.once('close', () => {
      clearTimeout(timer);
      entry.finished_at = preciseNow();
      traffic.leave(lookup.memberState, response.writableFinished);
    });
    if (delayMs > 0) timer = setTimeout(send, delayMs);
    else send();
  };
};
