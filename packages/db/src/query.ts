import { Prisma } from './generated/client.js';
import { monthsOf } from './uuid-bounds.js';

/** Runs queries: Prisma's client, one of its transactions, or a connection for large reads. */
export type Reader = {
  $queryRaw: <T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) => Promise<T>;
};

/** A statement, from it or from the parts of its template. */
export const sqlOf = (query: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]): Prisma.Sql =>
  'text' in query ? query : Prisma.sql(query, ...values);

/** The Postgres types in results, with what the driver returns for them. */
type Values = {
  bool: boolean;
  bytea: Uint8Array;
  int4: number;
  'int4[]': number[];
  text: string;
  timestamptz: Date;
  uuid: string;
  'uuid[]': string[];
};
type Simple = keyof Values;

/** A column whose values are narrower than its Postgres type; see {@link typed}. */
type TypedColumn<T> = { type: string; value?: T };

/** A Postgres type. `?`: may be null. `!`: never null in this statement, although the column of the table may be. */
export type Column = Simple | `${Simple}?` | `${Simple}!` | TypedColumn<unknown>;

/** The columns of a result: name → type. `npm run check` compares them with what Postgres says about the statement. */
export type Columns = Readonly<Record<string, Column>>;

type Value<C> =
  C extends TypedColumn<infer T>
    ? T
    : C extends `${infer S extends Simple}?`
      ? Values[S] | null
      : C extends `${infer S extends Simple}!`
        ? Values[S]
        : C extends Simple
          ? Values[C]
          : never;

/** The row that {@link query} returns for its columns. */
export type RowOf<C extends Columns> = { -readonly [K in keyof C]: Value<C[K]> };

type Stored = 'text' | 'jsonb' | 'text[]';

/** A column of texts or JSON of a known type, such as `typed<Plan>('text')`. */
export const typed = <T>(type: null extends T ? `${Stored}?` : Stored | `${Stored}!`): TypedColumn<T> => ({ type });

/** Columns in their literal types, for {@link query} and {@link RowOf}. */
export const columns = <const C extends Columns>(of: C): C => of;

/**
 * The SELECT list of columns of the table `alias`, as `alias.due_at AS "dueAt"`. `stored`: the names in the table that are not
 * those of `of` in snake_case.
 */
export const selectList = <const C extends Columns>(
  alias: string,
  of: C,
  stored: { readonly [K in keyof C]?: string } = {},
): Prisma.Sql => {
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const items = Object.keys(of).map((name) => `${alias}.${stored[name] ?? snakeCase(name)} AS "${name}"`);
  return Prisma.raw(items.join(', '));
};

/**
 * Whether the key `id` of a partitioned table is one of `ids`. The statement opens the partitions of their months alone, if
 * these are at most two. A single id is compared by `=`, with which Postgres finds its partition in any case.
 */
export const isOneOf = (id: Prisma.Sql, ids: readonly string[]): Prisma.Sql => {
  const given = ids.length === 1 ? Prisma.sql`${id} = ${ids[0]}::uuid` : Prisma.sql`${id} = ANY(${[...ids]}::uuid[])`;
  const months = monthsOf(ids);
  return months === null
    ? given
    : Prisma.sql`${given} AND ${id} >= ${months.from}::uuid AND ${id} < ${months.to}::uuid`;
};

/**
 * Whether two ids are the same, in a statement that locks rows. Unlike `=` between the ids themselves it does not make Postgres
 * choose the partition while the statement runs: with row locks, Postgres 18 without its fix of October 2026 (commit 1b5dd3a)
 * then leaves out rows, or reads freed memory and restarts (docs/decisions/0037).
 */
export const isSameId = (one: Prisma.Sql, other: Prisma.Sql): Prisma.Sql => Prisma.sql`${one}::text = ${other}::text`;

/** Columns of one type: `...all('uuid', 'id', 'accountId')`. */
export const all = <const T extends Column, const N extends string>(type: T, ...names: N[]): { readonly [K in N]: T } =>
  Object.fromEntries(names.map((name) => [name, type])) as { readonly [K in N]: T };

/** A statement with the columns of its result. */
export type DeclaredSql = Prisma.Sql & { columns: Columns };

/**
 * A tag that runs a statement and returns its rows: ``query(db, { n: 'int4' })`SELECT …` ``. `of`: name and type of each column
 * of the result, from which the type of the rows derives.
 */
export const query =
  <const C extends Columns>(db: Reader, of: C) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Promise<RowOf<C>[]> => {
    const statement: DeclaredSql = Object.assign(Prisma.sql(strings, ...values), { columns: of });
    return db.$queryRaw<RowOf<C>[]>(statement);
  };
