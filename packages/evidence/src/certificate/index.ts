export { type CertificateInput, certificatePdf } from './certificate-pdf.js';
export { openPageFonts, type PageFonts } from './page-fonts.js';
export type { AnchorWithProof, StampWithToken } from './proof-files.js';
