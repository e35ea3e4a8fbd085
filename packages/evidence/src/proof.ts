// Records and verifies evidence. `@vat/evidence/proof` is an entry of its own because documents need a PDF writer and fonts,
// which would be a third of what a worker or the command line loads at its start.
export { decodeAnchor, encodeAnchor, NO_ANCHOR_HASH } from './anchor/anchor.js';
export { type Closing, closeAnchor, closeNextAnchor } from './anchor/close-anchor.js';
export { expiresSoon } from './audit/report-standings.js';
export { verifyAnchors } from './audit/verify-anchors.js';
export { canonicalForm, hashCheck, newSalt } from './hash-check.js';
export { tokenCertificates, withIssuers } from './timestamp/certificates.js';
export {
  createTimestamper,
  domainStamper,
  fingerprintOf,
  requestTimestamp,
  type Timestamper,
} from './timestamp/create-timestamper.js';
export {
  createDevelopmentAuthority,
  makeDevelopmentIdentity,
  openDevelopmentAuthority,
} from './timestamp/development-authority.js';
export {
  authorityExtensions,
  certificatePem,
  issueCertificate,
  privateKeyPem,
  serverNames,
  unitExtensions,
} from './timestamp/issue-certificate.js';
export { probeAuthority } from './timestamp/probe-authority.js';
export { verifyTimestamp } from './timestamp/verify-timestamp.js';
export { verifyInclusion } from './tree/inclusion.js';
export { proveChecks } from './tree/prove-checks.js';
export { openTreeBuilder } from './tree/tree-blocks.js';
