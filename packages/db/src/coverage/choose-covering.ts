import type { ChooseCovering } from '@vat/domain';
import type { ConnectedReader } from '../connect-reader.js';
import { anchorsOf } from '../evidence/export.js';
import { query } from '../query.js';

/**
 * Selects the checks that cover the supplies of an account's coverage, with their anchors, in one snapshot. Each check is looked
 * up by its id, in the partition of its month; those that were deleted are left out.
 */
export const chooseCovering =
  ({ snapshot }: Pick<ConnectedReader, 'snapshot'>): ChooseCovering =>
  (accountId, coverageId) =>
    snapshot(async (tx) => {
      const [account] = await query(tx, { name: 'text' })`SELECT name FROM account WHERE id = ${accountId}::uuid`;
      const checks = await query(tx, { id: 'uuid', anchorSeq: 'int4?', stamped: 'bool' })`
        SELECT c.id, l.anchor_seq AS "anchorSeq", COALESCE(s.stamped, false) AS stamped
        FROM (
          SELECT DISTINCT l.check_id FROM coverage v JOIN coverage_line l ON l.coverage_id = v.id
          WHERE v.id = ${coverageId}::uuid AND v.account_id = ${accountId}::uuid AND l.status = 'covered'
        ) v CROSS JOIN LATERAL (
          SELECT c.id FROM "check" c WHERE c.id = v.check_id AND c.account_id = ${accountId}::uuid AND NOT c.test LIMIT 1
        ) c LEFT JOIN LATERAL (
          SELECT l.anchor_seq FROM anchor_leaf l WHERE l.check_id = c.id LIMIT 1
        ) l ON true LEFT JOIN LATERAL (
          SELECT s.token IS NOT NULL AS stamped FROM stamp s WHERE s.subject_id = c.id LIMIT 1
        ) s ON true ORDER BY c.id`;
      return {
        accountName: account?.name ?? '',
        checks,
        requests: [],
        anchors: await anchorsOf(tx, checks),
        changes: [],
      };
    });
