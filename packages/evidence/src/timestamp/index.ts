export * from './certificates.js';
export * from './create-timestamper.js';
export * from './development-authority.js';
export {
  authorityExtensions,
  certificatePem,
  issueCertificate,
  privateKeyPem,
  serverNames,
  unitExtensions,
} from './issue-certificate.js';
export * from './object-identifiers.js';
export * from './probe-authority.js';
export * from './timestamp.js';
export * from './verify-timestamp.js';
