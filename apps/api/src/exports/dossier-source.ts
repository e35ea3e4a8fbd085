import type { ChosenEvidence, ProveChecks, ReadEvidence } from '@vat/domain';
import {
  type DossierAnchor,
  type DossierCheck,
  type DossierOptions,
  type DossierRequest,
  type DossierSource,
  type DossierWatchChange,
  type Renewals,
  type StampedCheck,
  type Timestamper,
  tokenCertificates,
} from '@vat/evidence';

export type DossierSourceDeps = {
  read: ReadEvidence;
  prove: ProveChecks;
  /** Called with every token that the dossier contains. */
  onToken: (token: Uint8Array) => void;
};

/** Rows in memory at once: with their exchanges usually some hundred kilobytes. */
const CHUNK_ROWS = 25;

function* chunks<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += CHUNK_ROWS) yield all.slice(from, from + CHUNK_ROWS);
}

/** The rows in the order of `wanted`. Throws when one is missing: a dossier must contain everything that was chosen. */
const inOrder = <Key, Row>(wanted: readonly Key[], rows: readonly Row[], keyOf: (row: Row) => Key): Row[] => {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return wanted.map((key) => {
    const row = byKey.get(key);
    if (row === undefined) throw new Error('evidence was deleted during the export');
    return row;
  });
};
const idOf = ({ id }: { id: string }) => id;

/** Reads the chosen checks that have a time-stamp of their own and an anchor. */
export async function* stampedChecks(
  read: Pick<ReadEvidence, 'checks'>,
  chosen: ChosenEvidence['checks'],
): AsyncGenerator<StampedCheck, void, undefined> {
  const anchorOf = new Map(
    chosen.flatMap(({ id, stamped, anchorSeq }) => (stamped && anchorSeq !== null ? [[id, anchorSeq] as const] : [])),
  );
  for (const chunk of chunks([...anchorOf.keys()]))
    for (const { id, bytes, token } of await read.checks(chunk)) {
      const anchorSeq = anchorOf.get(id);
      if (token !== null && anchorSeq !== undefined) yield { bytes, token, anchorSeq };
    }
}

/** Bodies of anchors that are read at once, a few hundred bytes each. */
const LINKS_PER_PAGE = 1_000;

/**
 * Reads the chosen evidence in chunks while the dossier is sent. Anchors and time-stamps are those at the
 * time of the choice; `renewals`: later anchors for those that have expired.
 */
export const dossierSource = (
  { read, prove, onToken }: DossierSourceDeps,
  chosen: Omit<ChosenEvidence, 'accountName'>,
  renewals: Renewals | null,
): DossierSource => {
  const include = (wanted: boolean, token: Uint8Array | null): Uint8Array | null => {
    if (!wanted || token === null) return null;
    onToken(token);
    return token;
  };

  async function* checks(): AsyncGenerator<DossierCheck, void, undefined> {
    for (const chunk of chunks(chosen.checks)) {
      const ids = chunk.map(idOf);
      const rows = inOrder(ids, await read.checks(ids), idOf);
      const exchanges = await read.exchanges(rows.map(({ requestId }) => requestId));
      const anchored = chunk.filter(({ anchorSeq }) => anchorSeq !== null).map(idOf);
      const proofs = await prove(anchored);
      for (const [index, { id, requestId, bytes, hash, token }] of rows.entries())
        yield {
          bytes,
          hash,
          exchanges: exchanges.get(requestId) ?? [],
          token: include(chunk[index]?.stamped ?? false, token),
          proof: proofs.get(id) ?? null,
        };
    }
  }

  async function* requests(): AsyncGenerator<DossierRequest, void, undefined> {
    for (const chunk of chunks(chosen.requests)) {
      const rows = inOrder(chunk, await read.requests(chunk), idOf);
      const exchanges = await read.exchanges(chunk);
      for (const { state, ...request } of rows) {
        const status = state === 'abandoned' || state === 'withdrawn' ? state : 'pending';
        yield { ...request, status, exchanges: exchanges.get(request.id) ?? [] };
      }
    }
  }

  const wanted = new Map(chosen.anchors.map(({ seq, stamped }) => [seq, stamped]));
  for (const seq of renewals?.anchors ?? []) wanted.set(seq, true);
  const anchorsInOrder = [...wanted].map(([seq, stamped]) => ({ seq, stamped })).sort((a, b) => a.seq - b.seq);

  async function* anchors(): AsyncGenerator<DossierAnchor, void, undefined> {
    for (const chunk of chunks(anchorsInOrder)) {
      const seqs = chunk.map(({ seq }) => seq);
      const rows = inOrder(seqs, await read.anchors(seqs), ({ seq }) => seq);
      for (const [index, { seq, body, token }] of rows.entries())
        yield { seq, body, token: include(chunk[index]?.stamped ?? false, token) };
    }
  }

  async function* links(): AsyncGenerator<Pick<DossierAnchor, 'seq' | 'body'>, void, undefined> {
    if (renewals === null) return;
    const last = Math.max(...renewals.anchors);
    for (let after = renewals.first; after < last - 1; ) {
      const page = await read.anchorBodies(after, LINKS_PER_PAGE);
      for (const { seq, body } of page) if (seq < last && !wanted.has(seq)) yield { seq, body };
      after = page.at(-1)?.seq ?? last;
    }
  }

  async function* watchChanges(): AsyncGenerator<DossierWatchChange, void, undefined> {
    for (const chunk of chunks(chosen.changes)) {
      // A watch may be deleted at any time, and its changes with it.
      const rows = new Map((await read.changes(chunk)).map((row) => [row.id, row]));
      for (const id of chunk) {
        const row = rows.get(id);
        if (row) yield row;
      }
    }
  }

  return { checks: checks(), requests: requests(), anchors: anchors(), links: links(), watchChanges: watchChanges() };
};

/** Time-stamps one complete dossier; not when the authority does not answer, or with other certificates than `certificates`. */
export type Sealer = Pick<DossierOptions, 'certificates' | 'stamp'>;

type OpenSealerDeps = { stamp: Timestamper['stamp']; onFailure: (error: unknown) => void };

const NO_BYTES = new Uint8Array();

/**
 * Opens sealers of dossiers. A dossier contains the authority's certificates before it is stamped: those of all stamps of the
 * process so far, since an authority may sign with several ones in turn. Before the first dossier an empty input is stamped.
 * A stamp with others could not be verified with the dossier alone, so that dossier has none.
 */
export const openSealers = ({ stamp, onFailure }: OpenSealerDeps): (() => Sealer) => {
  const known = new Set<string>();
  const request = async (bytes: Uint8Array) => {
    try {
      const { tokenBytes, certificates: path } = await stamp(bytes);
      // The path to the root and all other certificates in the token: the verifier checks every byte of the seal.
      const certificates = [...path, ...tokenCertificates(tokenBytes)];
      for (const certificate of certificates) known.add(certificate);
      return { tokenBytes, certificates };
    } catch (error) {
      onFailure(error);
      return null;
    }
  };
  return () => {
    let contained: readonly string[] = [];
    return {
      certificates: async () => {
        if (known.size === 0) await request(NO_BYTES);
        contained = [...known];
        return contained;
      },
      stamp: async (bytes) => {
        const stamped = await request(bytes);
        if (stamped?.certificates.every((certificate) => contained.includes(certificate))) return stamped.tokenBytes;
        if (stamped)
          onFailure(new Error('the authority used other certificates than before; the next dossier contains them'));
        return null;
      },
    };
  };
};
