export * from './certificate/index.js';
export * from './coverage/index.js';
export * from './dossier/index.js';
export * from './proof.js';
export { readVerifierProgram, type Verifier } from './verify/read-verifier.js';
