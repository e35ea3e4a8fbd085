import { createHash } from 'node:crypto';

/** The maximum number of named statements per process; further ones have no name and are planned on each run. */
const MAX_NAMED = 500;
/** `SELECT *`: once a migration adds a column, such a named statement fails on every open connection. */
const OPEN_COLUMN_LIST = /\.\*|\bselect\s+\*/i;

/**
 * Names statements, so that Postgres parses and plans them once per connection: that halves the cost of the statements of
 * a lookup. The number is limited, since a statement whose text varies (a list of values) would otherwise fill the memory
 * of every connection. `undefined`: no name.
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
