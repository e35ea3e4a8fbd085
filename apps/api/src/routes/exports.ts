import {
  AppError,
  type ChooseCovering,
  type ChooseEvidence,
  type Coverage,
  type EvidenceChoice,
  MAX_EXPORTED_CHECKS,
  type ProveChecks,
  type StoredId,
} from '@vat/domain';
import {
  type DossierFile,
  type DossierOptions,
  type DossierSource,
  findRenewals,
  tokenCertificates,
  withIssuers,
  writeDossier,
} from '@vat/evidence';
import type { Sealer } from '../exports/dossier-source.js';
import { type DossierSourceDeps, dossierSource, stampedChecks } from '../exports/dossier-source.js';
import type { HoldLease } from '../exports/send-zip.js';
import { describeZip, sendZip } from '../exports/send-zip.js';
import { callerAgain, found, normalizeNumber, ownedId } from '../http/call.js';
import { type Routes, SENT } from '../http/route.js';

export type ExportRoutesDeps = Pick<DossierSourceDeps, 'read'> & {
  proveMany: ProveChecks;
  /** `null` when an export of the account runs already, in whatever process. */
  holdLease: HoldLease;
  chooseEvidence: ChooseEvidence;
  chooseCovering: ChooseCovering;
  findCoverage: (id: StoredId<'coverage'>, accountId: string) => Promise<Coverage | null>;
  /** Report and results of a coverage, for its dossier. */
  coverageFiles: (coverage: Coverage, accountId: string, createdAt: Date) => AsyncIterable<DossierFile>;
  newSealer: () => Sealer;
  /** PEM certificates to which the chain of a time-stamp may lead. */
  trustedRoots: readonly string[];
  now: () => Date;
};

/** `vat-dossier-2026-11-20T14-00-00Z.zip` */
const fileNameOf = (at: Date): string => `vat-dossier-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.zip`;

/** The routes of /v1/exports. */
export const exportRoutes = (deps: ExportRoutesDeps): Pick<Routes, 'exportDossier'> => {
  const { read, proveMany: prove, newSealer, trustedRoots } = deps;

  const findLater = findRenewals({ readAnchors: read.anchors, lastStamped: read.lastStamped, trustedRoots });

  const makeDossier = async (
    chosen: Parameters<typeof dossierSource>[1],
    options: Pick<DossierOptions, 'account' | 'createdAt' | 'choice' | 'coverage'>,
  ) => {
    const stamped = chosen.anchors.flatMap((anchor) => (anchor.stamped ? anchor.seq : []));
    const renewals = await findLater(stamped, stampedChecks(read, chosen.checks), options.createdAt);
    const inTokens = new Set<string>();
    const onToken = (token: Uint8Array) => {
      for (const pem of tokenCertificates(token)) inTokens.add(pem);
    };
    const source: DossierSource = dossierSource({ read, prove, onToken }, chosen, renewals);
    const sealer = newSealer();
    const certificates = async () => withIssuers([...inTokens, ...(await sealer.certificates())], trustedRoots);
    return writeDossier(source, { ...options, certificates, stamp: sealer.stamp });
  };

  /** Throws NOT_FOUND. */
  const coverageOf = async (id: string | undefined, accountId: string): Promise<Coverage | undefined> =>
    id === undefined ? undefined : found(await deps.findCoverage(ownedId('coverage', id), accountId));

  const exportDossier: Routes['exportDossier'] = async ({ req, res, caller: { accountId }, query }) => {
    const choice: EvidenceChoice = {
      from: query.from ?? null,
      to: query.to ?? null,
      vatNumber: query.vat_number === undefined ? null : normalizeNumber(query.vat_number),
      reference: query.reference ?? null,
    };
    const createdAt = deps.now();
    const coverage = await coverageOf(query.coverage_id, accountId);
    if (req.method === 'HEAD') {
      describeZip(res, fileNameOf(createdAt));
      res.end();
      return SENT;
    }

    const lease = await deps.holdLease(accountId, () => callerAgain(res));
    if (!lease) throw new AppError('EXPORT_IN_PROGRESS');
    try {
      const { accountName, ...chosen } = coverage
        ? await deps.chooseCovering(accountId, coverage.id)
        : await deps.chooseEvidence(accountId, choice, MAX_EXPORTED_CHECKS + 1);
      if (chosen.checks.length > MAX_EXPORTED_CHECKS) throw new AppError('EXPORT_TOO_LARGE');
      // Everything beside the checks makes the archive's directory larger in the same way.
      for (const [what, { length }] of [
        ['requests without a check', chosen.requests],
        ['changes of watches', chosen.changes],
      ] as const) {
        const message = `The export would hold more than 10 000 ${what}.`;
        if (length > MAX_EXPORTED_CHECKS) throw new AppError('EXPORT_TOO_LARGE', { message });
      }
      const zip = await makeDossier(chosen, {
        account: { id: accountId, name: accountName },
        createdAt,
        choice,
        coverage: coverage && { id: coverage.id, files: () => deps.coverageFiles(coverage, accountId, createdAt) },
      });
      // Only what was chosen shows that nothing matched: such a dossier is valid too.
      res.setHeader('X-Dossier-Checks', chosen.checks.length);
      const { lost: signal, release: beforeEnd } = lease;
      await sendZip(res, zip, { fileName: fileNameOf(createdAt), signal, beforeEnd });
      return SENT;
    } finally {
      await lease.release();
    }
  };

  return { exportDossier };
};
