export type { DossierFile } from './dossier-file.js';
export * from './dossier-source.js';
export { findRenewals, type Renewals } from './find-renewals.js';
export * from './write-dossier.js';
