import { setTimeout as wait } from 'node:timers/promises';
import type { Event } from '../generated/api-types.js';
import { makeSecret, signEvent } from '../sign-event.js';
import { isTemporary } from '../wait.js';
import { type Command, choiceOf, EXIT, textOf, UsageError } from './command.js';
import { explainError } from './explain-error.js';

/** As long as the service waits for a receiver. */
const FORWARD_MS = 10_000;
/** Between two tries to reach a service that is away, beside the pauses of each call. */
const PAUSE_MS = 1_000;

const TYPES = ['check.completed', 'check.failed', 'batch.completed', 'watch.changed', 'webhook.test'] as const;

/** What an event is about, in a few words. */
const subjectOf = ({ body }: Event): string => {
  if (body.event === 'check.completed') return `${body.check.vat_number} ${body.check.verdict}`;
  if (body.event === 'check.failed') return `${body.request_id} ${body.reason}`;
  if (body.event === 'batch.completed') return `${body.batch_id} ${body.done} done, ${body.failed} failed`;
  if (body.event === 'watch.changed')
    return `${body.vat_number} ${body.kind}: ${String(body.before)} → ${String(body.after)}`;
  return '';
};

const showEvent = (event: Event): string =>
  `${event.created_at}  ${event.event_id}  ${event.type}${event.test ? ' (test)' : ''}  ${subjectOf(event)}`.trimEnd();

/** Where to continue. A pipe holds some 100 events, and what was in it is lost when its reader closes it. */
const continuation = (place: string, unwritten: NodeJS.ErrnoException | undefined): string =>
  unwritten?.code === 'EPIPE'
    ? `the reader of the output has gone; continue with --after and the last event that it read, at most ${place}`
    : `continue with --after ${place}`;

/** Posts an event as a delivery of the webhook, and returns what came of it. Never throws. */
const forward = async (url: string, secret: string, { event_id: id, type, body }: Event): Promise<string> => {
  const text = JSON.stringify(body);
  const headers = signEvent({ secret, id, type, body: text, at: new Date() });
  const signal = AbortSignal.timeout(FORWARD_MS);
  try {
    const { status, body: rest } = await fetch(url, {
      method: 'POST',
      headers,
      body: text,
      redirect: 'manual',
      signal,
    });
    // A receiver that answers one call at a time, with a long page, would wait for a reader.
    await rest?.cancel().catch(() => undefined);
    return `${id}  forwarded, answered ${status}`;
  } catch (error) {
    const { cause = error } = error as Error;
    return `${id}  not forwarded: ${(cause as Error).message}`;
  }
};

/** `vat listen` */
export const listen: Command = {
  takes: [],
  summary: 'Prints the events of the account as they happen, until Ctrl-C; no webhook is needed',
  options: {
    after: ['EVENT', 'begin after this event, evt_…, or with start for all of them; by default with the next one'],
    type: ['TYPE', `only events of this type: ${TYPES.join(', ')}`],
    'forward-to': ['URL', 'post each event to this address, signed like a delivery of the webhook'],
    secret: ['SECRET', 'whsec_… to sign with; by default a new one, which is printed'],
  },
  run: async (args, { client, write, note, json, signal }) => {
    const url = textOf(args, 'forward-to');
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw new UsageError(
        `--forward-to is an address such as http://127.0.0.1:4000/webhooks, not ${JSON.stringify(url)}.`,
      );
    const secret = textOf(args, 'secret') ?? makeSecret();
    if (!/^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(secret))
      throw new UsageError('--secret is whsec_ followed by base64, as it was shown when the webhook was saved.');
    const type = choiceOf(args, 'type', TYPES);
    const vat = client();
    const follower = vat.events(textOf(args, 'after') ?? (await vat.newestEvent({ signal })), { type, signal });
    note(`following ${vat.baseUrl}; Ctrl-C ends it`);
    if (url !== undefined) note(`forwarding to ${url}, signed with ${secret}`);
    let unwritten: NodeJS.ErrnoException | undefined;
    const follow = async (): Promise<void> => {
      for await (const event of follower) {
        // Only an event that was written is one to continue after.
        await write(json ? JSON.stringify(event) : showEvent(event)).catch((error: NodeJS.ErrnoException) => {
          unwritten = error;
          throw error;
        });
        if (url !== undefined) note(await forward(url, secret, event));
      }
    };
    try {
      for (;;) {
        await follow().catch((error: unknown) => {
          if (signal.aborted || error === unwritten || !isTemporary(error)) throw error;
          note(`${explainError(error)} Trying again.`);
        });
        await wait(PAUSE_MS, undefined, { signal });
      }
    } catch (error) {
      if (!signal.aborted && unwritten?.code !== 'EPIPE') throw error;
    } finally {
      note(continuation(follower.after(), unwritten));
    }
    return EXIT.ok;
  },
};
