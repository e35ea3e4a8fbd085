import { presentPublicVerification } from '@vat/contracts';
import {
  AppError,
  type FindEvidence,
  type ListAnchors,
  type ProveChecks,
  type PublicLinks,
  type StoredCheck,
  type StoredId,
} from '@vat/domain';
import type { IRouter, RequestHandler, Response } from 'express';
import { type ServePagesDeps, sendPage } from '../dashboard/serve-pages.js';
import { networkOf } from '../http/client-network.js';
import { goneOf } from '../http/connection.js';
import { resource } from '../http/resource.js';
import { secure } from '../http/secure.js';
import { type LimitNetworkRateDeps, limitNetworkRate } from '../middleware/limit-rate.js';
import { turnsByKey } from '../turns.js';

export type PublicVerificationDeps = LimitNetworkRateDeps &
  ServePagesDeps & {
    /** The check that a link opens; null for any other text, and always while public verification is off. */
    checkOfLink: PublicLinks['checkOf'];
    findCheckOfAnyAccount: (id: StoredId<'check'>) => Promise<StoredCheck | null>;
    findEvidence: FindEvidence;
    prove: ProveChecks;
    listAnchors: ListAnchors;
    anchorEveryMs: number;
  };

/** The part of the chain that is served: the anchor of the check, at most so many after it, and those before it. */
const CHAIN = { later: 25, length: 51 } as const;

/** Readers take turns by their network, so that public pages use few of the connections that calls of customers need. */
const TURNS = { maxRunning: 4, maxWaiting: 100 } as const;

/** Seconds for which the browser of the reader may cache the data. No proxy may. */
const CACHE_S = 60;

const PAGE = 'verify.html';

const refuse = () =>
  new AppError('RATE_LIMITED', {
    message: 'Too many checks are being verified at this moment.',
    extra: { retry_after: 1 },
  });

/**
 * Mounts /verify/<check id>.<token>, a page that shows and verifies one check in the browser, and the same path with .json for
 * its data. Neither needs an account. A wrong token, an unknown or deleted check, and a link while public verification is off
 * all get the same 404; a wrong token causes no read but that of the key, once in a process.
 */
export const mountPublicVerification = (app: IRouter, deps: PublicVerificationDeps): void => {
  const inTurn = turnsByKey({ maxRunning: TURNS.maxRunning, waiting: { max: TURNS.maxWaiting, refuse } });

  /** Runs a read for the check of a link. Returns null without reading when the link is no link of a check. */
  const readFor = async <T>(
    res: Response,
    link: unknown,
    read: (id: StoredId<'check'>) => Promise<T>,
  ): Promise<T | null> => {
    const id = await deps.checkOfLink(String(link));
    if (id === null) return null;
    return inTurn(networkOf(res.req.ip ?? ''), () => read(id), goneOf(res));
  };

  const readVerification = async (id: StoredId<'check'>) => {
    const check = await deps.findCheckOfAnyAccount(id);
    if (!check) return null;
    const [evidence, proofs] = await Promise.all([deps.findEvidence([id]), deps.prove([id])]);
    const proof = proofs.get(id) ?? null;
    const anchors = proof ? await deps.listAnchors(proof.seq + CHAIN.later + 1, CHAIN.length) : [];
    const stamp = evidence.get(id)?.stamp ?? null;
    return presentPublicVerification({ check, stamp, proof, anchors, anchorEveryMs: deps.anchorEveryMs });
  };

  const notFound = () => new AppError('NOT_FOUND', { message: 'This link shows no check.' });

  const page: RequestHandler = async (req, res) => {
    const check = await readFor(res, req.params.link, deps.findCheckOfAnyAccount);
    if (!check && req.accepts(['html', 'json']) === 'json') throw notFound();
    sendPage(res.status(check ? 200 : 404), deps.pagesFolder, PAGE);
  };

  const data: RequestHandler = async (req, res) => {
    const verification = await readFor(res, req.params.link, readVerification);
    if (!verification) throw notFound();
    res.setHeader('Cache-Control', `private, max-age=${CACHE_S}`);
    res.json(verification);
  };

  const before = [secure('verification'), limitNetworkRate(deps)];
  resource(app, '/verify/:link.json', { get: [...before, data] });
  resource(app, '/verify/:link', { get: [...before, page] });
};
