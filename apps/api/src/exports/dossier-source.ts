import type { ChosenEvidence, ProveChecks, ReadEvidence } from '@vat/domain';
import {
  type DossierAnchor,
  type DossierCheck,
  type DossierRequest,
  type DossierSource,
  type DossierWatchChange,
  type Timestamper,
  tokenCertificates,
} from '@vat/evidence';

export type DossierSourceDeps = {
  read: ReadEvidence;
  prove: ProveChecks;
  /** Told of every token that is handed out. */
  onToken: (token: Uint8Array) => void;
};

/** Rows held at a time: with their exchanges, mostly some hundred kilobytes. */
const SLICE = 25;

function* slices<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += SLICE) yield all.slice(from, from + SLICE);
}

/** The rows in the order of `wanted`. Throws when one is gone: a dossier must not leave out what was chosen. */
const inOrder = <Key, Row>(wanted: readonly Key[], rows: readonly Row[], keyOf: (row: Row) => Key): Row[] => {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return wanted.map((key) => {
    const row = byKey.get(key);
    if (row === undefined) throw new Error('evidence was deleted while it was exported');
    return row;
  });
};
const idOf = ({ id }: { id: string }) => id;

/** What was chosen, read a slice at a time as the dossier is taken. Anchors and time-stamps are those of the choice's moment. */
export const dossierSource = (
  { read, prove, onToken }: DossierSourceDeps,
  chosen: Omit<ChosenEvidence, 'accountName'>,
): DossierSource => {
  const handOut = (wanted: boolean, token: Uint8Array | null): Uint8Array | null => {
    if (!wanted || token === null) return null;
    onToken(token);
    return token;
  };

  async function* checks(): AsyncGenerator<DossierCheck, void, undefined> {
    for (const slice of slices(chosen.checks)) {
      const ids = slice.map(idOf);
      const rows = inOrder(ids, await read.checks(ids), idOf);
      const exchanges = await read.exchanges(rows.map(({ requestId }) => requestId));
      const anchored = slice.filter(({ anchorSeq }) => anchorSeq !== null).map(idOf);
      const proofs = await prove(anchored);
      for (const [index, { id, requestId, bytes, hash, token }] of rows.entries())
        yield {
          bytes,
          hash,
          exchanges: exchanges.get(requestId) ?? [],
          token: handOut(slice[index]?.stamped ?? false, token),
          proof: proofs.get(id) ?? null,
        };
    }
  }

  async function* requests(): AsyncGenerator<DossierRequest, void, undefined> {
    for (const slice of slices(chosen.requests)) {
      const rows = inOrder(slice, await read.requests(slice), idOf);
      const exchanges = await read.exchanges(slice);
      for (const { state, ...request } of rows) {
        const status = state === 'abandoned' || state === 'withdrawn' ? state : 'pending';
        yield { ...request, status, exchanges: exchanges.get(request.id) ?? [] };
      }
    }
  }

  async function* anchors(): AsyncGenerator<DossierAnchor, void, undefined> {
    for (const slice of slices(chosen.anchors)) {
      const seqs = slice.map(({ seq }) => seq);
      const rows = inOrder(seqs, await read.anchors(seqs), ({ seq }) => seq);
      for (const [index, { seq, body, token }] of rows.entries())
        yield { seq, body, token: handOut(slice[index]?.stamped ?? false, token) };
    }
  }

  async function* watchChanges(): AsyncGenerator<DossierWatchChange, void, undefined> {
    for (const slice of slices(chosen.changes)) {
      // A watch may be deleted by its owner at any time, and its changes go with it.
      const rows = new Map((await read.changes(slice)).map((row) => [row.id, row]));
      for (const id of slice) {
        const row = rows.get(id);
        if (row) yield row;
      }
    }
  }

  return { checks: checks(), requests: requests(), anchors: anchors(), watchChanges: watchChanges() };
};

/** Stamps whole dossiers. `stamp` resolves to null where no time-stamp was to be had. */
export type Sealer = {
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>;
  /** PEM of the authority that `stamp` asks, with all that it sends along; empty where it does not answer. */
  certificates: () => Promise<readonly string[]>;
};

type OpenSealerDeps = { stamp: Timestamper['stamp']; onFailure: (error: unknown) => void };

const NOTHING = new Uint8Array();

/**
 * Opens the sealer of a process. A dossier names the authority's certificates before it is stamped, so the first one costs
 * a stamp of nothing, only to learn them; later ones take those of the latest stamp.
 */
export const openSealer = ({ stamp, onFailure }: OpenSealerDeps): Sealer => {
  let latest: readonly string[] | null = null;
  const sealed = async (bytes: Uint8Array): Promise<Uint8Array | null> => {
    try {
      const { tokenBytes, certificates } = await stamp(bytes);
      // What leads to the root, and what the token carries besides: the verifier accounts for every byte of the seal.
      latest = [...certificates, ...tokenCertificates(tokenBytes)];
      return tokenBytes;
    } catch (error) {
      onFailure(error);
      return null;
    }
  };
  return {
    stamp: sealed,
    certificates: async () => {
      if (latest === null) await sealed(NOTHING);
      return latest ?? [];
    },
  };
};
