import {
  chooseEvidence,
  connectReader,
  type Database,
  exportLeases,
  findAnchor,
  findCheckStamp,
  findDevelopmentIdentity,
  findEvidence,
  findIdempotencyKey,
  findLeaves,
  findPendingStamp,
  findToken,
  listAnchors,
  pinTimestampRoot,
  readBlocks,
  readEvidence,
  recordStamp,
  relockIdempotencyKey,
  requestStampForCheck,
  storeDevelopmentIdentity,
} from '@vat/db';
import { type DueStamp, makeStamp, stampCheck } from '@vat/domain';
import { createTimestamper, domainStamper, openDevelopmentAuthority, proveChecks } from '@vat/evidence';
import { errorFields, type Logger, type readSettings, SettingsError, throttledLog } from '@vat/runtime';
import { openSealer } from './exports/dossier-source.js';
import { holdLease } from './exports/send-zip.js';
import type { EvidenceRoutesDeps } from './routes/mount-evidence-routes.js';
import { CERTIFICATE_TURNS } from './routes/timestamps.js';
import { keyedMutex } from './turns.js';

/** The settings of what the API does with evidence. */
export const EVIDENCE_SETTINGS = ['TSA_URL', 'TSA_ROOTS', 'TSA_HASH', 'TSA_RETRY_DELAYS'] as const;
type EvidenceSettings = ReturnType<
  typeof readSettings<(typeof EVIDENCE_SETTINGS)[number] | 'DATABASE_URL' | 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS'>
>;

/** How long a caller waits for a time-stamp before it is told that there will be one. */
const PATIENCE_MS = 3_000;

/** A root that is not the pinned one is logged again after this long. */
const REPEAT_ERROR_MS = 30_000;

/** Exports read through connections of their own: they may be many rows behind each other, and nobody waits behind them. */
const EXPORT_CONNECTIONS = 3;
const EXPORT_QUERY_TIMEOUT_MS = 10_000;

type ComposeEvidenceDeps = {
  settings: EvidenceSettings;
  db: Database;
  /** Never rejects. */
  enqueueStamp: (stamp: DueStamp) => Promise<void>;
  log: Logger;
  now: () => Date;
};

const openTimestamper = ({ settings, db, log, now }: ComposeEvidenceDeps) => {
  const development = openDevelopmentAuthority({
    find: findDevelopmentIdentity(db),
    store: storeDevelopmentIdentity(db),
    masterKey: settings.SECRET_KEY,
    previousKey: settings.SECRET_KEY_PREVIOUS,
    now,
  });
  const trustedRoots = settings.TSA_ROOTS === undefined ? undefined : [settings.TSA_ROOTS];
  try {
    return createTimestamper({
      ...{ url: settings.TSA_URL ?? null, development, now, trustedRoots, hash: settings.TSA_HASH },
      pinning: {
        pin: pinTimestampRoot(db),
        onOtherRoot: throttledLog(
          (fields) => log.error('The time-stamping authority shows another root than the pinned one.', fields),
          REPEAT_ERROR_MS,
          now,
        ),
      },
    });
  } catch (error) {
    throw new SettingsError(`TSA_ROOTS: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** What the routes of evidence are made of. Throws {@link SettingsError}. */
export const composeEvidence = (
  deps: ComposeEvidenceDeps,
): { deps: Omit<EvidenceRoutesDeps, 'findCheck' | 'storeAnswer' | 'baseUrl' | 'now'>; close: () => Promise<void> } => {
  const { settings, db, enqueueStamp, log, now } = deps;
  const timestamper = openTimestamper(deps);
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
  return {
    deps: {
      stampCheck: stampCheck({
        findKey: findIdempotencyKey(db),
        relockKey: relockIdempotencyKey(db),
        ask: requestStampForCheck(db),
        make,
        find: findCheckStamp(db),
        enqueue: enqueueStamp,
        patience: () => AbortSignal.timeout(PATIENCE_MS),
        now,
      }),
      findCheckStamp: findCheckStamp(db),
      findToken: findToken(db),
      findEvidence: findEvidence(db),
      findAnchor: findAnchor(db),
      listAnchors: listAnchors(db),
      prove: proveChecks({ findLeaves: findLeaves(db), readBlocks: readBlocks(db) }),
      certificateInTurn: keyedMutex(CERTIFICATE_TURNS),
      holdLease: holdLease({
        leases: exportLeases(db),
        onFailure: (error) => log.warn("An export's lease was not renewed or released.", errorFields(error)),
      }),
      chooseEvidence: chooseEvidence(exporting),
      proveMany: proveChecks({ findLeaves: findLeaves(exporting.reader), readBlocks: readBlocks(exporting.reader) }),
      read: readEvidence(exporting.reader),
      sealer: openSealer({
        stamp: timestamper.stamp,
        onFailure: (error) => log.warn('A dossier could not be stamped.', errorFields(error)),
      }),
      trustedRoots: settings.TSA_ROOTS === undefined ? [] : [settings.TSA_ROOTS],
    },
    close: async () => {
      timestamper.close();
      await exporting.close();
    },
  };
};
