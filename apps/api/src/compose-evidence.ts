import { openTimestamper } from '@vat/composition';
import {
  chooseCovering,
  chooseEvidence,
  connectReader,
  exportLeases,
  findAnchor,
  findCheckStamp,
  findCoverageHead,
  findEvidence,
  findIdempotencyKey,
  findLeaves,
  findPendingStamp,
  findToken,
  listAnchors,
  listCoverageLines,
  readBlocks,
  readCoverageResults,
  readEvidence,
  recordStamp,
  relockIdempotencyKey,
  requestStampForCheck,
} from '@vat/db';
import { makeStamp, publicId, stampCheck } from '@vat/domain';
import { certificatePdf, domainStamper, openPageFonts, proveChecks } from '@vat/evidence';
import { enqueueStamp } from '@vat/queues';
import { errorFields, type SettingsOf } from '@vat/runtime';
import type { ApiContext } from './api-context.js';
import { coverageFiles } from './coverage/coverage-files.js';
import { openSealers } from './exports/dossier-source.js';
import { holdLease } from './exports/send-zip.js';
import type { AnchorRoutesDeps } from './routes/anchors.js';
import type { ExportRoutesDeps } from './routes/exports.js';
import { CERTIFICATE_TURNS, type TimestampRoutesDeps } from './routes/timestamps.js';
import { keyedMutex } from './turns.js';

/** The settings of time-stamps. */
type EvidenceSettings = SettingsOf<
  'api',
  | ('TSA_URL' | 'TSA_ROOTS' | 'TSA_HASH' | 'TSA_RETRY_DELAYS' | 'CONTACT_URL' | 'EGRESS_PROXY')
  | ('DATABASE_URL' | 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS')
>;

/** How long a call waits for its time-stamp before it is answered as pending. */
const STAMP_WINDOW_MS = 3_000;

/** Exports read many rows one after the other, so they have separate connections: calls must not wait for them. */
const EXPORT_CONNECTIONS = 3;
const EXPORT_QUERY_TIMEOUT_MS = 10_000;

type EvidenceContext = Pick<ApiContext, 'db' | 'producer' | 'publishChange' | 'log' | 'now' | 'baseUrl'>;

/** Composes time-stamps, anchors, certificates and the export. Throws {@link SettingsError}. */
export const composeEvidence = (
  settings: EvidenceSettings,
  context: EvidenceContext,
): {
  deps: Omit<
    AnchorRoutesDeps & ExportRoutesDeps & TimestampRoutesDeps,
    'findCheck' | 'findCoverage' | 'publicLinkOf' | 'baseUrl' | 'now'
  >;
  close: () => Promise<void>;
} => {
  const { db, producer, publishChange, log, now } = context;
  const enqueue = enqueueStamp(producer);
  const timestamper = openTimestamper(settings, context);
  const exporting = connectReader({
    url: settings.DATABASE_URL,
    maxConnections: EXPORT_CONNECTIONS,
    queryTimeoutMs: EXPORT_QUERY_TIMEOUT_MS,
    connectTimeoutMs: EXPORT_QUERY_TIMEOUT_MS,
    applicationName: 'vat-api-export',
  });
  const make = makeStamp({
    findPending: findPendingStamp(db),
    ...domainStamper(timestamper),
    record: recordStamp(db),
    retryDelaysMs: settings.TSA_RETRY_DELAYS,
    now,
  });
  const stamp = stampCheck({
    findKey: findIdempotencyKey(db),
    relockKey: relockIdempotencyKey(db),
    requestStamp: requestStampForCheck(db),
    make,
    find: findCheckStamp(db),
    enqueue: (requested) =>
      enqueue(requested).catch((error: unknown) =>
        log.warn('A time-stamp was not enqueued; the sweep will enqueue it.', errorFields(error)),
      ),
    patience: () => AbortSignal.timeout(STAMP_WINDOW_MS),
    now,
  });
  return {
    deps: {
      stampCheck: async (call) => {
        const result = await stamp(call);
        publishChange(call.caller.accountId, 'checks', publicId('check', call.checkId));
        return result;
      },
      findCheckStamp: findCheckStamp(db),
      findToken: findToken(db),
      findEvidence: findEvidence(db),
      findAnchor: findAnchor(db),
      listAnchors: listAnchors(db),
      prove: proveChecks({ findLeaves: findLeaves(db), readBlocks: readBlocks(db) }),
      certificateInTurn: keyedMutex(CERTIFICATE_TURNS),
      drawCertificate: certificatePdf(openPageFonts()),
      holdLease: holdLease({
        leases: exportLeases(db),
        onFailure: (error) => log.warn('The lease of an export was not renewed or released.', errorFields(error)),
      }),
      chooseEvidence: chooseEvidence(exporting),
      chooseCovering: chooseCovering(exporting),
      proveMany: proveChecks({ findLeaves: findLeaves(exporting.reader), readBlocks: readBlocks(exporting.reader) }),
      read: readEvidence(exporting.reader),
      coverageFiles: coverageFiles({
        listLines: listCoverageLines(db),
        findHead: findCoverageHead(db),
        readResults: readCoverageResults(db),
        baseUrl: context.baseUrl,
      }),
      newSealer: openSealers({
        stamp: timestamper.stamp,
        onFailure: (error) => log.warn('A dossier could not be time-stamped.', errorFields(error)),
      }),
      trustedRoots: settings.TSA_ROOTS === undefined ? [] : [settings.TSA_ROOTS],
    },
    close: async () => {
      timestamper.close();
      await exporting.close();
    },
  };
};
