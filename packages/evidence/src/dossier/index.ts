export * from './dossier-source.js';
export * from './write-dossier.js';
