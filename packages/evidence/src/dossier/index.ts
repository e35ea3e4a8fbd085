export type { DossierFile } from './dossier-file.js';
export * from './dossier-source.js';
export * from './write-dossier.js';
