import type { ServerResponse } from 'node:http';
import { renderAnswer, sendAnswer } from './answer.js';
import type { Script } from './script.js';
import type { Journal, JournalEntry, Traffic } from './traffic.js';
import { messageOf, readWireLookup, sendJson, statusOf, wireError } from './wire.js';

type HandleLookupDeps = { script: Script; traffic: Traffic; journal: Journal };
type IncomingLookup = { body: unknown; testService: boolean; response: ServerResponse };

const preciseNow = (): number => performance.timeOrigin + performance.now();

/** Answers one ask as scripted. It is in flight until its answer is written or its client is gone. */
export const handleLookup = ({ script, traffic, journal }: HandleLookupDeps) => {
  let consultations = 0;

  return ({ body, testService, response }: IncomingLookup): void => {
    const ask = readWireLookup(body);
    if (typeof ask === 'string') {
      sendJson(response, statusOf(ask), wireError(ask, messageOf(ask)));
      return;
    }

    const inFlight = traffic.enter(ask.memberState);
    const { answer, delayMs } = script.play(ask, inFlight, testService);
    const entry: JournalEntry = {
      at: preciseNow(),
      finished_at: null,
      member_state: ask.memberState,
      number: ask.memberState + ask.national,
      requester: ask.requester,
      trader: ask.trader,
      answer: answer.kind,
      code: answer.kind === 'error' ? answer.code : null,
      in_flight_at_start: inFlight,
    };
    journal.add(entry);

    const send = () => {
      consultations += 1;
      const consultation = `WAPI${consultations.toString(36).toUpperCase().padStart(12, '0')}`;
      sendAnswer(response, answer.kind, renderAnswer(answer, { ask, now: new Date(), consultation }));
    };
    let timer: NodeJS.Timeout | undefined;
    response.once('close', () => {
      clearTimeout(timer);
      entry.finished_at = preciseNow();
      traffic.leave(ask.memberState, response.writableFinished);
    });
    if (delayMs > 0) timer = setTimeout(send, delayMs);
    else send();
  };
};
