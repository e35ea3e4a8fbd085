import type { RunningWatch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

type Row = {
  id: string;
  vat_number: string;
  label: string | null;
  last_valid: boolean | null;
  last_valid_check_id: string | null;
  last_name: string | null;
  last_address: string | null;
};

/**
 * The watch whose run a request is, with what it remembers; `null` when it was deleted or the run has ended. Only the end
 * of the run changes what is remembered, so it is as it was read for as long as the run is the watch's.
 */
export const findRunningWatch =
  (db: Queryable) =>
  async (requestId: string): Promise<RunningWatch | null> => {
    const [row] = await db.$queryRaw<Row[]>`
      SELECT id, vat_number, label, last_valid, last_valid_check_id, last_name, last_address
      FROM watch WHERE request_id = ${requestId}::uuid`;
    if (!row) return null;
    return {
      id: row.id,
      vatNumber: row.vat_number,
      label: row.label,
      lastValid: row.last_valid,
      whenValid: row.last_valid_check_id === null ? null : { name: row.last_name, address: row.last_address },
    };
  };
