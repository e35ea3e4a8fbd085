import { Prisma } from './generated/client.js';
import { idsOfPeriod, monthsBelow } from './uuid-bounds.js';

/** A page of a list of a partitioned table, newest first. */
export type Page = {
  /** The id at which the previous page ended, exclusive. */
  beforeId: string | null;
  period: { from?: Date | undefined; to?: Date | undefined };
  limit: number;
  now: Date;
};

type Bounds = Pick<Page, 'beforeId' | 'period'>;

/** The bounds of ids that a page needs: below the last id of the previous page, and about the period. */
export const idBounds = ({ beforeId, period }: Bounds) => {
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

/** The conditions about the time in `column` that belong to {@link idBounds}: it is within minutes of that of the id. */
const periodConditions = (column: Prisma.Sql, { from, to }: Page['period']): Prisma.Sql[] => [
  ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
  ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
];

const conditionsOf = (column: Prisma.Sql, page: Bounds, uuid: (id: string) => Prisma.Sql): Prisma.Sql[] => {
  const { from, below } = idBounds(page);
  return [
    ...(below === undefined ? [] : [Prisma.sql`id < ${uuid(below)}`]),
    ...(from === null ? [] : [Prisma.sql`id >= ${uuid(from)}`]),
    ...periodConditions(column, page.period),
  ];
};

/** The conditions of a page about the columns `id` and `column`. */
export const pageConditions = (column: Prisma.Sql, page: Bounds): Prisma.Sql[] =>
  conditionsOf(column, page, (id) => Prisma.sql`${id}::uuid`);

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An id as part of a statement's text. Throws when it is no UUID. */
const literal = (id: string): Prisma.Sql => {
  if (!ID.test(id)) throw new Error(`${id} is not a UUID`);
  return Prisma.raw(`'${id}'::uuid`);
};

/**
 * {@link pageConditions} with the bounds of ids as part of the text, with which such a statement is planned for these bounds. For
 * bounds that it does not know, Postgres expects so few rows that it would as well read all rows of the account.
 */
export const plannedConditions = (column: Prisma.Sql, page: Bounds): Prisma.Sql[] =>
  conditionsOf(column, page, literal);
