import { X509Certificate } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { auditAnchors, closeAlone, type Database, forgetTimestampRoot, listTimestampRoots } from '@vat/db';
import { publicId } from '@vat/domain';
import { type Closing, closeNextAnchor, expiresSoon, fingerprintOf, verifyAnchors } from '@vat/evidence/proof';
import { enqueueStamp } from '@vat/queues';
import { readSettings } from '@vat/runtime';
import { type Commands, FailedCheck, UsageError, withProducer } from '../command.js';

const POLL_INTERVAL_MS = 250;
/** More than the time to close an anchor of a million checks. */
const WAIT_MS = 120_000;

/** Closes an anchor as soon as no other process is closing one. */
const closeWhenFree = async (close: () => Promise<Closing>, now: () => Date): Promise<Closing> => {
  const until = now().getTime() + WAIT_MS;
  for (;;) {
    const closing = await close();
    if (closing.kind !== 'busy') return closing;
    if (now().getTime() > until) throw new UsageError('Another process is closing an anchor and has not finished.');
    await setTimeout(POLL_INTERVAL_MS);
  }
};

/** anchor close|verify. */
export const anchorCommands = (db: Database, env: NodeJS.ProcessEnv, now: () => Date): Commands => ({
  'anchor close': async () => {
    const closing = await closeWhenFree(closeNextAnchor({ closeAlone: closeAlone(db), now }), now);
    if (closing.kind !== 'closed') return { status: 'nothing_to_anchor', anchor_id: null };
    const { anchor } = closing;
    const stamp = { subjectId: anchor.id, dueAt: anchor.closedAt };
    // Without Redis the anchor is closed too, and the sweep enqueues its time-stamp.
    await withProducer(env, now, (producer) => enqueueStamp(producer)(stamp)).catch(() => undefined);
    return {
      status: 'closed',
      anchor_id: publicId('anchor', anchor.id),
      ...(JSON.parse(Buffer.from(anchor.body).toString('utf8')) as Record<string, unknown>),
      hash: Buffer.from(anchor.hash).toString('hex'),
    };
  },
  'anchor verify': async () => {
    const { TSA_ROOTS: roots } = readSettings(env, 'admin', ['TSA_ROOTS']);
    const verify = verifyAnchors({ audit: auditAnchors(db), now, trustedRoots: roots === undefined ? [] : [roots] });
    const { renewed, validUntil, differences, leftOff, whole: _whole, ...counts } = await verify();
    const answer = {
      ...counts,
      ...(renewed.length > 0 ? { renewed } : {}),
      ...(expiresSoon(validUntil, now()) ? { expiring_at: validUntil?.toISOString() } : {}),
      differences,
      ...(leftOff > 0 ? { left_off: leftOff } : {}),
    };
    if (differences.length > 0) throw new FailedCheck(answer);
    return answer;
  },
});

/** tsa-root list|forget: the pinned roots of time-stamping authorities without TSA_ROOTS. */
export const timestampRootCommands = (db: Database): Commands => ({
  'tsa-root list': async () => {
    const roots = await listTimestampRoots(db)();
    return {
      data: roots.map(({ tsaUrl, certificate, pinnedAt }) => ({
        tsa_url: tsaUrl,
        sha256: fingerprintOf(certificate),
        subject: new X509Certificate(certificate).subject.replaceAll('\n', ', '),
        pinned_at: pinnedAt.toISOString(),
      })),
    };
  },
  'tsa-root forget TSA_URL': async ({ positionals: [url] }) => {
    if (url === undefined) throw new UsageError('Write: tsa-root forget TSA_URL');
    return { tsa_url: url, forgotten: await forgetTimestampRoot(db)(url) };
  },
});
