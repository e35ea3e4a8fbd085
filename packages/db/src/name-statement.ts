import { createHash } from 'node:crypto';

/** Statements named per process; whatever comes after that is planned anew each time, as it would be without a name. */
const MAX_NAMED = 500;
/** A table's columns taken as they come: such a statement breaks for good on open connections once a migration adds one. */
const OPEN_COLUMN_LIST = /\.\*|\bselect\s+\*/i;

/**
 * Gives statements that are asked often a name, by which Postgres keeps them parsed and planned a connection: for the
 * statements of an ask that is half of what they cost. Bounded, since a statement whose text varies (a list of values)
 * would otherwise fill every connection's memory. `undefined`: no name.
 */
export const nameStatement = (): ((statement: { sql: string }) => string | undefined) => {
  const names = new Map<string, string | undefined>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined || names.size >= MAX_NAMED) return known;
    if (OPEN_COLUMN_LIST.test(sql)) return undefined;
    const name = `vat_${createHash('sha256').update(sql).digest('hex').slice(0, 24)}`;
    names.set(sql, name);
    return name;
  };
};
