import type { IRouter } from 'express';
import type { Gates } from '../http/call.js';
import { resource } from '../http/resource.js';
import { refuseTestKey } from '../middleware/authenticate.js';
import { noBody } from '../middleware/body.js';
import { type AnchorRoutesDeps, anchorRoutes } from './anchors.js';
import { type ExportRoutesDeps, exportRoutes } from './exports.js';
import { type CertificateDeps, showCertificate, type TimestampRoutesDeps, timestampRoutes } from './timestamps.js';

export type EvidenceRoutesDeps = AnchorRoutesDeps & CertificateDeps & ExportRoutesDeps & TimestampRoutesDeps;

/** The routes of evidence below `prefix`, with the same gates as whatever else a customer reads and starts. */
export const mountEvidenceRoutes = (
  app: IRouter,
  prefix: string,
  deps: EvidenceRoutesDeps,
  { reading, changing }: Gates,
): void => {
  const at: typeof resource = (router, path, methods) => resource(router, `${prefix}${path}`, methods);
  const readingLive = [...reading, refuseTestKey];
  const timestamps = timestampRoutes(deps);
  at(app, '/checks/:id/timestamp', {
    get: [...readingLive, timestamps.show],
    post: [...changing, refuseTestKey, ...noBody, timestamps.create],
  });
  at(app, '/checks/:id/timestamp.tsr', { get: [...readingLive, timestamps.token] });
  const anchors = anchorRoutes(deps);
  at(app, '/checks/:id/anchor', { get: [...readingLive, anchors.proveCheck] });
  at(app, '/checks/:id/certificate.pdf', { get: [...reading, showCertificate(deps)] });
  at(app, '/anchors', { get: [...readingLive, anchors.list] });
  // Before the anchor itself, whose pattern would take the name of its token for an id.
  at(app, '/anchors/:id.tsr', { get: [...readingLive, anchors.token] });
  at(app, '/anchors/:id', { get: [...readingLive, anchors.show] });
  at(app, '/exports/dossier.zip', { get: [...readingLive, exportRoutes(deps).dossier] });
};
