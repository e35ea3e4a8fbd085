import { pageListQuery, presentAnchor, presentProof } from '@vat/contracts';
import {
  AppError,
  type FindAnchor,
  type FindToken,
  type ListAnchors,
  type ProveChecks,
  type Reader,
  type StoredCheck,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import { ownedId, readerOf } from '../http/call.js';
import { parseQuery, readPage, refuseCursor } from '../http/parse.js';

export type AnchorRoutesDeps = {
  findCheck: (id: string, reader: Reader) => Promise<StoredCheck | null>;
  listAnchors: ListAnchors;
  findAnchor: FindAnchor;
  findToken: FindToken;
  prove: ProveChecks;
};

/**
 * The routes of /v1/anchors, which are the same for every account: an anchor shows how many checks it holds and the root
 * of their hashes, and nothing of whose they are. A check's place in one is its account's alone.
 */
export const anchorRoutes = (deps: AnchorRoutesDeps) => {
  /** A page ends at an anchor; where the next one begins is its place in the chain. */
  const seqOf = async (id: string | null): Promise<number | null> => {
    if (id === null) return null;
    const anchor = await deps.findAnchor(id);
    return anchor ? anchor.seq : refuseCursor();
  };

  const list: RequestHandler = async (req, res) => {
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['anchors'], async (before, most) =>
      deps.listAnchors(await seqOf(before), most),
    );
    res.json({ data: rows.map(presentAnchor), next_cursor: nextCursor });
  };

  const show: RequestHandler = async (req, res) => {
    const anchor = await deps.findAnchor(ownedId('anchor', req.params.id));
    if (!anchor) throw new AppError('NOT_FOUND');
    res.json(presentAnchor(anchor));
  };

  const token: RequestHandler = async (req, res) => {
    const found = await deps.findToken(ownedId('anchor', req.params.id), null);
    if (!found) throw new AppError('NOT_FOUND');
    res.type('application/timestamp-reply').end(Buffer.from(found));
  };

  const proveCheck: RequestHandler = async (req, res) => {
    const id = ownedId('check', req.params.id);
    const check = await deps.findCheck(id, readerOf(res));
    const proof = check && (await deps.prove([id])).get(id);
    if (!proof) throw new AppError('NOT_FOUND', check ? { message: 'The check is not in an anchor yet.' } : {});
    res.json(presentProof(proof));
  };

  return { list, show, token, proveCheck };
};
