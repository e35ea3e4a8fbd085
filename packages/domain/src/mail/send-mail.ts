import { recordWithinLease } from '../record-within-lease.js';
import { type InvitationFacts, type MailFacts, type PendingMail, planMail } from './mail.js';

/** `not_yet`: the mail is due, or its attempt in another process ends, at `at`. `settled`: it has ended. */
export type MailClaim = { kind: 'claimed'; mail: PendingMail } | { kind: 'not_yet'; at: Date } | { kind: 'settled' };

/** The state of a mail after an attempt. `error`: a code, never an address or a secret. */
export type MailOutcome =
  | { state: 'sent'; at: Date }
  | { state: 'failed'; at: Date; error: string }
  | { state: 'pending'; nextAttemptAt: Date; error: string };

type SendMailDeps = {
  /** Claims an attempt for this process until `leasedUntil`. */
  claim: (mailId: string, now: Date, leasedUntil: Date) => Promise<MailClaim>;
  /** Null when there is nothing left to report. */
  readFacts: (mail: PendingMail) => Promise<MailFacts | InvitationFacts | null>;
  /** Rejects when the mail server has not accepted the mail, and when `abort` aborts. */
  send: (mail: PendingMail, facts: MailFacts | InvitationFacts, abort: AbortSignal) => Promise<void>;
  /** `facts`: what the mail said, if it was sent. */
  record: (mail: PendingMail, outcome: MailOutcome, facts: MailFacts | InvitationFacts | null) => Promise<void>;
  /** Gives a claimed attempt back, which does not count. */
  release: (mail: PendingMail, now: Date) => Promise<void>;
  /** Ends a mail that is not to be sent. */
  discard: (mailId: string) => Promise<void>;
  /** The code of what `send` or `readFacts` rejected with. */
  reasonOf: (error: unknown) => string;
  /** Called for every attempt that was recorded. `cause`: what it failed with. */
  onAttempted: (mail: PendingMail, outcome: MailOutcome, cause?: unknown) => void;
  pause: (ms: number) => Promise<void>;
  now: () => Date;
};

/** Longer than an attempt can take: the deadlines of connecting and of each step of the protocol together. */
const LEASE_MS = 600_000;

/**
 * Makes one attempt to send a mail. Returns when the next one is due; null when none is. An attempt is claimed before it is made
 * and recorded afterwards, so a mail is sent twice only when the process ends in between: then another one sends it again
 * after the lease, with the same Message-ID.
 */
export const sendMail = (deps: SendMailDeps) => {
  const { now } = deps;

  const outcomeOfFailure = (mail: PendingMail, cause: unknown): MailOutcome => {
    const at = now();
    const error = deps.reasonOf(cause);
    const nextAttemptAt = planMail(mail, at);
    return nextAttemptAt === null ? { state: 'failed', at, error } : { state: 'pending', nextAttemptAt, error };
  };

  return async (mailId: string, abort: AbortSignal): Promise<Date | null> => {
    const leasedUntil = new Date(now().getTime() + LEASE_MS);
    const claim = await deps.claim(mailId, now(), leasedUntil);
    if (claim.kind === 'not_yet') return claim.at;
    if (claim.kind === 'settled') return null;
    const { mail } = claim;
    let outcome: MailOutcome;
    let facts: MailFacts | InvitationFacts | null = null;
    let cause: unknown;
    try {
      facts = mail.isWanted ? await deps.readFacts(mail) : null;
      if (facts === null) {
        await deps.discard(mailId);
        return null;
      }
      await deps.send(mail, facts, abort);
      outcome = { state: 'sent', at: now() };
    } catch (error) {
      if (abort.aborted) {
        await deps.release(mail, now());
        return now();
      }
      cause = error;
      outcome = outcomeOfFailure(mail, error);
    }
    await recordWithinLease(() => deps.record(mail, outcome, facts), leasedUntil, deps);
    deps.onAttempted(mail, outcome, cause);
    return outcome.state === 'pending' ? outcome.nextAttemptAt : null;
  };
};
