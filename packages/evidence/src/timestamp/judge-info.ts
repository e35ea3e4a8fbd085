import { createHash } from 'node:crypto';
import type { Accuracy, TSTInfo } from 'pkijs';
import { HASHES, hashOfLength } from './object-identifiers.js';
import { hexOf } from './read-block.js';
import { TimestampRefused } from './timestamp-refused.js';

/**
 * What was stamped. `digest`: its SHA-256, SHA-384 or SHA-512, and the token has to be over that one. `data`: its bytes,
 * and the token may be over any of the three.
 */
export type Stamped = { digest: Uint8Array } | { data: Uint8Array };

/** What a TSTInfo is compared with. */
export type InfoExpectation = Stamped & {
  /** Of the query; without it (a token read from the archive) the nonce is not looked at. */
  nonce?: Uint8Array | undefined;
  /** Object identifiers; any policy where there are none. */
  acceptedPolicies?: readonly string[] | undefined;
  /** How far the authority's time may lie from ours; not looked at for a token from the archive. */
  clock?: { now: Date; toleranceMs: number } | undefined;
};

/** A coarser time-stamp is of no use to somebody who has to show an order of events. */
const MAX_ACCURACY_MS = 60_000;

/** Milliseconds, rounded up; null when the authority does not say. Parts outside 1–999 are refused (RFC 3161 §2.4.2). */
const accuracyMs = (accuracy: Accuracy | undefined): number | null => {
  if (!accuracy) return null;
  const { seconds = 0, millis = 0, micros = 0 } = accuracy;
  const inRange = [millis, micros].every((part) => Number.isInteger(part) && part >= 0 && part <= 999);
  const total = seconds * 1000 + millis + Math.ceil(micros / 1000);
  if (!inRange || !Number.isInteger(seconds) || seconds < 0 || total > MAX_ACCURACY_MS)
    throw new TimestampRefused('wrong_accuracy', `an accuracy of ${seconds} s ${millis} ms ${micros} µs`);
  return total;
};

const judgeImprint = ({ messageImprint: { hashAlgorithm, hashedMessage } }: TSTInfo, stamped: Stamped): void => {
  const hash = HASHES[hashAlgorithm.algorithmId];
  if (!hash || ('digest' in stamped && hash !== hashOfLength(stamped.digest.length)))
    throw new TimestampRefused('wrong_imprint_algorithm', `the imprint is made with ${hashAlgorithm.algorithmId}`);
  const expected = 'digest' in stamped ? stamped.digest : createHash(hash).update(stamped.data).digest();
  if (!Buffer.from(hashedMessage.getValue()).equals(expected))
    throw new TimestampRefused('wrong_imprint', 'the token is of something else');
};

/** Whether a TSTInfo answers the query; its accuracy in milliseconds. Throws {@link TimestampRefused}. */
export const judgeInfo = (info: TSTInfo, expected: InfoExpectation): number | null => {
  const { nonce, acceptedPolicies, clock } = expected;
  if (info.version !== 1) throw new TimestampRefused('unreadable', `a TSTInfo of version ${info.version}`);
  judgeImprint(info, expected);
  const asked =
    nonce &&
    Buffer.from(nonce)
      .toString('hex')
      .replace(/^(00)+(?=.)/, '');
  if (asked !== undefined && (!info.nonce || hexOf(info.nonce) !== asked))
    throw new TimestampRefused('wrong_nonce', info.nonce ? 'the nonce is not ours' : 'the nonce is missing');
  if (acceptedPolicies && !acceptedPolicies.includes(info.policy))
    throw new TimestampRefused('wrong_policy', `the policy is ${info.policy}`);
  const accuracy = accuracyMs(info.accuracy);
  if (clock) {
    const apartMs = info.genTime.getTime() - clock.now.getTime();
    // Written so that a time that is no time is refused too.
    if (!(Math.abs(apartMs) <= clock.toleranceMs + (accuracy ?? 0)))
      throw new TimestampRefused('wrong_time', `the authority's time is ${apartMs} ms from ours`);
  }
  return accuracy;
};
