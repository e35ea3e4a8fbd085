import { X509Certificate } from 'node:crypto';
import { type Database, forgetTimestampRoot, listTimestampRoots } from '@vat/db';
import { fingerprintOf } from '@vat/evidence/proof';
import { UsageError } from '../usage-error.js';
import type { Verb } from './verb.js';

/** tsa-root list|forget: what was pinned for time-stamping authorities without TSA_ROOTS. */
export const timestampRootVerbs = (db: Database): Record<string, Verb> => ({
  'tsa-root list': {
    usage: 'tsa-root list',
    flags: {},
    run: async () => {
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
  },
  'tsa-root forget': {
    usage: 'tsa-root forget TSA_URL',
    flags: {},
    run: async ({ positionals: [url] }) => {
      if (url === undefined) throw new UsageError('Write: tsa-root forget TSA_URL');
      return { tsa_url: url, forgotten: await forgetTimestampRoot(db)(url) };
    },
  },
});
