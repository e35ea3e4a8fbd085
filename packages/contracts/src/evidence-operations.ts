import {
  anchorProofSchema,
  anchorSchema,
  pendingTimestampSchema,
  timestampSchema,
  verifierSchema,
} from './evidence.js';
import { documentQuery, dossierQuery, pageListQuery, pageOf } from './lists.js';
import { download, type Operation, ok } from './operation.js';

const checkId = 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc';
const anchorId = 'anc_01m7w5b1k2e0a9v6n3r4t7y1bd';

const stampedExample = {
  object: 'timestamp',
  check_id: checkId,
  requested_at: '2026-11-20T10:05:00.000Z',
  status: 'stamped',
  gen_time: '2026-11-20T10:05:00.000Z',
  accuracy_ms: 1_000,
  serial: '5f3a91c2',
  policy: '1.3.6.1.4.1.99999.1.1',
  authority: 'Example Qualified TSA 3',
  development: false,
};

const pendingExample = {
  object: 'timestamp',
  check_id: checkId,
  requested_at: '2026-11-20T10:05:00.000Z',
  status: 'pending',
  attempts: 1,
  next_attempt_at: '2026-11-20T10:05:13.000Z',
  last_error: 'unreachable',
};

const anchorExample = {
  anchor_id: anchorId,
  v: 1,
  seq: 412,
  alg: 'rfc9162-sha256',
  closed_at: '2026-11-20T11:00:00.120Z',
  tree_size: 18_204,
  root: '4a0c1f0b7f0d3f1a2b9d5c5d4f6e8a7b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f',
  prev_anchor_hash: 'b6f0b3f7d6b0f0c34b0e0b5bb6a0d4a4b2c1f5f0a6f5b8b7b3b2e1d0c9b8a7f6',
};

const proofExample = {
  anchor_id: anchorId,
  leaf_index: 3,
  tree_size: 4,
  path: [
    'd1a2b9d5c5d4f6e8a7b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f4a0c1f0b7f0d3',
    '0f3a4b5c6d7e8f9a0b1c2d3e4f4a0c1f0b7f0d3f1a2b9d5c5d4f6e8a7b9c0d1e',
  ],
};

const TSR = 'application/timestamp-reply';
const stamped = (description: string) => ({ description, schema: timestampSchema, example: stampedExample });

const live = { tag: 'Evidence', live: true } as const;
const ofCheck = { ...live, id: 'check' } as const;

/** The operations of time-stamps, anchors, certificates and dossiers. */
export const EVIDENCE_OPERATIONS = {
  createTimestamp: {
    ...ofCheck,
    method: 'post',
    path: '/v1/checks/{id}/timestamp',
    summary: 'Time-stamp a check',
    description:
      'Takes no body, or `{}`. A check has one time-stamp (RFC 3161) over its hashed bytes; repeated calls return the same one. If the authority does not answer immediately, the time-stamp is requested again in the background until it does.',
    idempotent: true,
    success: {
      200: stamped('The check already has a time-stamp.'),
      201: { ...stamped('The time-stamp.'), headers: ['Location'] },
      202: {
        description: 'The time-stamp was requested and is not available yet. Until it is, `Location` returns 404.',
        schema: pendingTimestampSchema,
        example: pendingExample,
        headers: ['Location', 'Retry-After'],
      },
    },
    errors: ['ACCOUNT_DISABLED'],
  },
  getTimestamp: {
    ...ofCheck,
    method: 'get',
    path: '/v1/checks/{id}/timestamp',
    summary: "Get a check's time-stamp",
    success: { 200: stamped('The time-stamp.') },
  },
  getTimestampToken: {
    ...ofCheck,
    method: 'get',
    path: '/v1/checks/{id}/timestamp.tsr',
    summary: "Get the authority's response",
    description: 'Verify it over the evidence bytes with `openssl ts -verify -in timestamp.tsr -data evidence.json`.',
    success: { 200: { description: 'The TimeStampResp (DER), byte for byte.', contentType: TSR } },
  },
  getAnchorProof: {
    ...ofCheck,
    method: 'get',
    path: '/v1/checks/{id}/anchor',
    summary: 'Get the proof that a check is in its anchor',
    success: ok('The inclusion proof.', anchorProofSchema, proofExample),
  },
  getCertificate: {
    method: 'get',
    path: '/v1/checks/{id}/certificate.pdf',
    tag: 'Evidence',
    summary: 'Get the certificate of a check',
    description:
      'A page for your files (PDF/A-3b) in the language of `lang`: number, verdict, grade, name and address, consultation number, match, times, hash, anchor, and how to verify them, with a QR code of the public link. The hashed record, its time-stamps, the anchor and the inclusion proof are attached to it.',
    id: 'check',
    query: documentQuery,
    success: download('The certificate.', 'application/pdf'),
  },
  listAnchors: {
    ...live,
    method: 'get',
    path: '/v1/anchors',
    summary: 'List anchors, newest first',
    description: 'Anchors belong to the whole service: one tree contains the checks of all accounts.',
    query: pageListQuery,
    success: pageOf(anchorSchema, [anchorExample]),
  },
  getAnchor: {
    ...live,
    method: 'get',
    path: '/v1/anchors/{id}',
    summary: 'Get an anchor',
    id: 'anchor',
    success: ok('The anchor.', anchorSchema, anchorExample),
  },
  getAnchorToken: {
    ...live,
    method: 'get',
    path: '/v1/anchors/{id}.tsr',
    summary: "Get the authority's response for an anchor",
    description: 'Stamps the RFC 8785 form of the anchor without `anchor_id`. Returns 404 until the anchor is stamped.',
    id: 'anchor',
    success: { 200: { description: 'The TimeStampResp (DER), byte for byte.', contentType: TSR } },
  },
  exportDossier: {
    ...live,
    method: 'get',
    path: '/v1/exports/dossier.zip',
    summary: "Export the account's evidence",
    description:
      'Streams a zip with the selected live checks and all their exchanges, time-stamps, anchors and proofs, the requests that ended without a check, and the changes of watches. It verifies offline with its own program (`sh verify.sh`). An export has at most 10 000 checks, and an account runs one export at a time. With `coverage_id` it contains exactly the checks that cover the supplies, and the report and results of the coverage. If the connection ends early, the file is incomplete and does not verify.',
    query: dossierQuery,
    success: {
      200: {
        description: 'The dossier.',
        contentType: 'application/zip',
        headers: ['Content-Disposition', 'X-Dossier-Checks'],
      },
    },
    errors: ['NOT_FOUND', 'EXPORT_TOO_LARGE', 'EXPORT_IN_PROGRESS'],
  },
  getVerifier: {
    method: 'get',
    path: '/verifier',
    tag: 'Evidence',
    summary: 'Get the SHA-256 of the dossier verifier',
    description:
      'Every dossier contains a copy of this program. An auditor who does not trust the copy downloads the program here, compares its SHA-256 and runs `python3 -I verify.py DIR`. It also verifies dossiers of earlier releases.',
    key: false,
    dashboard: false,
    success: ok('The program.', verifierSchema, {
      object: 'verifier',
      file_name: 'verify.py',
      sha256: '3f1d5c7a0b9e8d6c4a2f1e0d9c8b7a695847362514f3e2d1c0b9a8f7e6d5c4b3',
      size: 39_120,
      url: 'https://vat.example.com/verifier/verify.py',
    }),
  },
  getVerifierFile: {
    method: 'get',
    path: '/verifier/verify.py',
    tag: 'Evidence',
    summary: 'Download the dossier verifier',
    description:
      'Requires Python 3.8 and OpenSSL 1.1.1 or later, and no network access. `ETag` is the SHA-256 of the file.',
    key: false,
    dashboard: false,
    success: {
      200: { description: 'The program.', contentType: 'text/x-python', headers: ['Content-Disposition', 'ETag'] },
    },
  },
} as const satisfies Record<string, Operation>;
