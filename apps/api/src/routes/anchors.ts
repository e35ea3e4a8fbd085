import { presentAnchor, presentProof } from '@vat/contracts';
import {
  AppError,
  type FindAnchor,
  type FindToken,
  type ListAnchors,
  type ProveChecks,
  type Reader,
  type StoredCheck,
  type StoredId,
} from '@vat/domain';
import { found } from '../http/call.js';
import { refuseCursor, replyWithPage } from '../http/parse.js';
import type { Routes } from '../http/route.js';

export type AnchorRoutesDeps = {
  findCheck: (id: StoredId<'check'>, reader: Reader) => Promise<StoredCheck | null>;
  listAnchors: ListAnchors;
  findAnchor: FindAnchor;
  findToken: FindToken;
  prove: ProveChecks;
};

/**
 * The routes of /v1/anchors, which are the same for every account: an anchor has a number of checks and the root of their
 * hashes, and nothing that belongs to an account. Only the owner of a check can read its proof.
 */
export const anchorRoutes = (
  deps: AnchorRoutesDeps,
): Pick<Routes, 'getAnchorProof' | 'listAnchors' | 'getAnchor' | 'getAnchorToken'> => {
  /** The sequence number of the anchor at which a page ended. */
  const seqOf = async (id: string | null): Promise<number | null> => {
    if (id === null) return null;
    const anchor = await deps.findAnchor(id);
    return anchor ? anchor.seq : refuseCursor();
  };

  return {
    getAnchorProof: async ({ id, reader }) => {
      const check = await deps.findCheck(id, reader);
      const proof = check && (await deps.prove([id])).get(id);
      if (!proof) throw new AppError('NOT_FOUND', check ? { message: 'The check is not in an anchor yet.' } : {});
      return { status: 200, body: presentProof(proof) };
    },

    listAnchors: ({ query }) => {
      const find = async (before: string | null, limit: number) => deps.listAnchors(await seqOf(before), limit);
      return replyWithPage(query, ['anchors'], find, presentAnchor);
    },

    getAnchor: async ({ id }) => ({ status: 200, body: presentAnchor(found(await deps.findAnchor(id))) }),

    getAnchorToken: async ({ id }) => {
      const bytes = await deps.findToken(id, null);
      if (bytes) return { status: 200, bytes };
      const anchor = await deps.findAnchor(id);
      throw new AppError('NOT_FOUND', anchor ? { message: 'The anchor has no time-stamp yet.' } : {});
    },
  };
};
