import { type Timestamper, tokenCertificates } from '@vat/evidence';

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
