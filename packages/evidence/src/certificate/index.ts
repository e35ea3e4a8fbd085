export * from './certificate-pdf.js';
