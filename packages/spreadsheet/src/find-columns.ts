import type { Meaning } from './batch-file.js';
import { foldName } from './cells.js';
import { HEADER_NAMES } from './header-names.js';
import { RESULT_COLUMNS } from './results-file.js';

/** For each meaning the columns with the best rank in a header row; normally one or none. */
export type NamedColumns = Record<Meaning, number[]>;

/** The rank of each folded name; 0 is the most certain. */
type Ranks = ReadonlyMap<string, number>;

const ranksOf = (meaning: Meaning): Ranks =>
  new Map(
    HEADER_NAMES[meaning].flatMap((names, rank) => names.map((name) => [foldName(name), rank] as const)).reverse(),
  );

const RANKS: Readonly<Record<Meaning, Ranks>> = {
  candidate: ranksOf('candidate'),
  country: ranksOf('country'),
  reference: ranksOf('reference'),
  requester: ranksOf('requester'),
};

/** Longer cells are data and are not folded. */
const MAX_NAME = 200;

const LEAST_CERTAIN_REFERENCE = 1;

/** A header cell for comparison: folded as a whole, and in its parts if it has several. */
type FoldedName = { whole: string; parts: readonly string[] };

const PART_ENDS = /[/|()[\]\r\n:]+/;
/** The maximum of parts that are compared; no real name has more. */
const MAX_PARTS = 12;

/** Folds a cell once for all meanings, because folding is the expensive part. */
const foldCell = (cell: string): FoldedName | null => {
  if (cell.length > MAX_NAME) return null;
  const parts = cell.split(PART_ENDS, MAX_PARTS);
  return { whole: foldName(cell), parts: parts.length > 1 ? parts.map(foldName) : [] };
};

/**
 * The best rank of a header cell, or null. `USt-IdNr. (Kunde)*` and `VAT number / N° TVA` are also compared by their
 * parts, but only with the most certain names, because a part matches by chance more easily.
 */
const rankOf = (ranks: Ranks, { whole, parts }: FoldedName): number | null =>
  ranks.get(whole) ?? (parts.some((part) => ranks.get(part) === 0) ? 0 : null);

/**
 * The first column that the service itself added, or -1. A results file that is uploaded again ends with these
 * columns, and their `vat_number` must not compete with the column that it was made from.
 */
const firstResultColumn = (header: readonly string[]): number => {
  const start = header.length - RESULT_COLUMNS.length;
  return start > 0 && RESULT_COLUMNS.every((name, index) => header[start + index] === name) ? start : -1;
};

/**
 * Finds the columns that a header row names. The caller must refuse several columns of one meaning. Of the least certain
 * references (`id` beside `Kundennummer`) only the first is returned.
 */
export const findColumns = (header: readonly string[]): NamedColumns => {
  const taken = new Set<number>();
  const folded = header.map(foldCell);
  const named = (meaning: Meaning, except = -1): number[] => {
    const ranked = folded.flatMap((name, column) => {
      if (name === null || column === except || taken.has(column)) return [];
      const rank = rankOf(RANKS[meaning], name);
      return rank === null ? [] : [{ column, rank }];
    });
    const best = Math.min(...ranked.map(({ rank }) => rank));
    const columns = ranked.filter(({ rank }) => rank === best).map(({ column }) => column);
    return meaning === 'reference' && best === LEAST_CERTAIN_REFERENCE ? columns.slice(0, 1) : columns;
  };
  const take = (columns: number[]): number[] => {
    for (const column of columns) taken.add(column);
    return columns;
  };
  // The requester comes first, since a part of "Requester (VAT number)" also names the number.
  const requester = take(named('requester'));
  const uploaded = named('candidate', firstResultColumn(header));
  const candidate = take(uploaded.length > 0 ? uploaded : named('candidate'));
  return { candidate, country: take(named('country')), reference: named('reference'), requester };
};
