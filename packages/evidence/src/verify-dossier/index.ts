export type { DossierProblem, DossierReport } from './dossier-report.js';
export { type DossierProgress, verifyDossier } from './verify-dossier.js';
export { verifyStamp } from './verify-stamp.js';
export type { VerifiedStamp } from './verify-token.js';
