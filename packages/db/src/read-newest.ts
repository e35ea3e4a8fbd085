import { Prisma } from './generated/client.js';
import { idsOfPeriod, monthsBelow } from './uuid-bounds.js';

/** A page of a list of a partitioned table, newest first. */
type Page = {
  /** The id at which the previous page ended, exclusive. */
  beforeId: string | null;
  period: { from?: Date | undefined; to?: Date | undefined };
  limit: number;
  now: Date;
};

/** The bounds of ids that a page needs: below the last id of the previous page, and about the period. */
export const idBounds = ({ beforeId, period }: Pick<Page, 'beforeId' | 'period'>) => {
  const ids = idsOfPeriod(period);
  return { from: ids.from, below: [beforeId, ids.below].filter((id) => id !== null).sort()[0] };
};

/**
 * Reads a page in the two months in which it begins, and in the months before only if these have too few rows. `read` gets the
 * condition of the months about the column `id`, and the number of rows.
 */
export const readNewest = async <Row>(
  page: Page,
  read: (range: Prisma.Sql, most: number) => Promise<Row[]>,
): Promise<Row[]> => {
  const bounds = idBounds(page);
  const { from, months } = monthsBelow(bounds.below, page.now);
  const newest = await read(Prisma.sql`id >= ${months.from}::uuid AND id < ${months.to}::uuid`, page.limit);
  if (newest.length === page.limit || (bounds.from !== null && bounds.from >= from)) return newest;
  return [...newest, ...(await read(Prisma.sql`id < ${months.from}::uuid`, page.limit - newest.length))];
};

/** The conditions of a page about the column `id` and the time in `column`, which is within minutes of that of the id. */
export const pageConditions = (column: Prisma.Sql, page: Pick<Page, 'beforeId' | 'period'>): Prisma.Sql[] => {
  const { from, below } = idBounds(page);
  return [
    ...(below === undefined ? [] : [Prisma.sql`id < ${below}::uuid`]),
    ...(from === null ? [] : [Prisma.sql`id >= ${from}::uuid`]),
    ...(page.period.from ? [Prisma.sql`${column} >= ${page.period.from}::timestamptz`] : []),
    ...(page.period.to ? [Prisma.sql`${column} < ${page.period.to}::timestamptz`] : []),
  ];
};
