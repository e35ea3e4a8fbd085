import { type ChainedStamp, describeStanding, encodeAnchor, evaluateStamps, hashAnchor } from '@vat/evidence/portable';
import type { VerifiedStamp } from '@vat/evidence/verify-dossier';
import type { Api } from '../api/create-api.js';
import { ApiError } from '../api/errors.js';
import type { Anchor } from '../api/shapes.js';
import type { Page } from '../api/use-api-query.js';
import type { Finding } from './finding.js';

const ANCHORS_PER_PAGE = 100;
/** Some months of anchors, so that the calls end within seconds. A dossier contains the later anchors of any time. */
const MAX_PAGES = 25;
/** Four days of anchors whose time-stamps may be late, because the authority was away. */
const MAX_LATE = 100;

const hashed = ({ anchor_id: _, ...anchor }: Anchor) => anchor;

/**
 * The verified time-stamp of an anchor, or the reason why it does not verify; null if there is none yet, or if this browser
 * does not support its elliptic curve.
 */
const readStamp = async (api: Api, anchor: Anchor): Promise<VerifiedStamp | { refused: string } | null> => {
  const answer = await api.send('GET', `/anchors/${anchor.anchor_id}.tsr`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  if (answer === null) return null;
  // Loaded when it is needed, because it is larger than the page.
  const { verifyStamp } = await import('@vat/evidence/verify-dossier');
  const token = new Uint8Array(await answer.arrayBuffer());
  try {
    return await verifyStamp(token, encodeAnchor(hashed(anchor)));
  } catch (error) {
    const isUnsupported = error instanceof Error && 'refusal' in error && error.refusal === 'unsupported';
    const reason = error instanceof Error ? error.message : String(error);
    return isUnsupported ? null : { refused: reason || 'it is a time-stamp of something else' };
  }
};

/** The anchors from `first` on, oldest first; null if there are more than are loaded. */
const readChainFrom = async (api: Api, first: Anchor): Promise<Anchor[] | null> => {
  const found: Anchor[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { limit: ANCHORS_PER_PAGE, cursor };
    const listed: Page<Anchor> = await api.call<Page<Anchor>>('GET', '/anchors', { query });
    found.push(...listed.data.filter(({ seq }) => seq >= first.seq));
    if (found.at(-1)?.seq === first.seq) return found.toReversed();
    cursor = listed.next_cursor;
    if (cursor === null) break;
  }
  return null;
};

/**
 * The finding about the time-stamp of an anchor whose certificate has expired: which later anchor renews it, if any; also
 * if it does not verify. Nothing while the certificate is valid, or before there is a time-stamp.
 */
export const verifyAnchorStamp = async (api: Api, anchor: Anchor, now: number): Promise<Finding[]> => {
  // Web Crypto exists only on pages that were opened over https.
  if (!globalThis.crypto?.subtle) return [];
  const own = await readStamp(api, anchor);
  if (own === null) return [];
  if ('refused' in own)
    return [{ holds: false, text: `The time-stamp of anchor ${anchor.seq} does not verify: ${own.refused}.` }];
  if (own.validUntil >= now) return [];
  const chain = await readChainFrom(api, anchor);
  if (chain === null)
    return [
      {
        holds: false,
        text: `The certificate of the time-stamp of anchor ${anchor.seq} has expired. It is too old to be compared with all later anchors here: export a dossier, which contains those that renew it.`,
      },
    ];
  const stamps = new Map([[anchor.seq, own]]);
  /** Reads the time-stamps of the later anchors that were closed before `expiry`, from the last one on, until one was made in time. */
  const findInTime = async (after: number, expiry: number): Promise<[seq: number, stamp: VerifiedStamp] | null> => {
    const closedInTime = chain.filter(({ seq, closed_at }) => seq > after && Date.parse(closed_at) <= expiry);
    for (const later of closedInTime.toReversed().slice(0, MAX_LATE)) {
      const stamp = await readStamp(api, later);
      if (!stamp || 'refused' in stamp) continue;
      stamps.set(later.seq, stamp);
      if (stamp.genTime <= expiry) return [later.seq, stamp];
    }
    return null;
  };
  let [seq, expiry] = [anchor.seq, own.validUntil];
  while (expiry < now) {
    const later = await findInTime(seq, expiry);
    if (later === null) break;
    [seq, expiry] = [later[0], later[1].validUntil];
  }
  const linked = chain.map((one, index): ChainedStamp => {
    const before = chain[index - 1];
    const follows = before !== undefined && one.prev_anchor_hash === hashAnchor(hashed(before));
    return { seq: one.seq, stamp: stamps.get(one.seq) ?? null, linked: follows };
  });
  const standing = evaluateStamps(linked, now).anchors.get(anchor.seq);
  if (!standing || standing.kind === 'current') return [];
  return [{ holds: standing.kind === 'renewed', text: `Anchor ${anchor.seq}: ${describeStanding(standing)}.` }];
};
