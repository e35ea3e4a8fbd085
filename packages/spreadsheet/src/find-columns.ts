import type { Meaning } from './batch-file.js';
import { foldName } from './fold-name.js';
import { HEADER_NAMES } from './header-names.js';
import { RESULT_COLUMNS } from './result-columns.js';

/** Columns by meaning that a header row names equally surely; normally one or none each. */
export type NamedColumns = Record<Meaning, number[]>;

/** How sure each folded name is, 0 being the surest. */
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

/** Longer than any name with an explanation behind it; data is not folded for nothing. */
const LONGEST_NAME = 200;

const LEAST_SURE_REFERENCE = 1;

/** A header cell as it is looked up: folded as a whole, and in its parts where it has several. */
type FoldedName = { whole: string; parts: readonly string[] };

const PART_ENDS = /[/|()[\]\r\n:]+/;
/** More parts than any name has; a cell of two hundred slashes is none. */
const MAX_PARTS = 12;

/** Folded once for all meanings: folding is what a row of a thousand long names costs. */
const foldCell = (cell: string): FoldedName | null => {
  if (cell.length > LONGEST_NAME) return null;
  const parts = cell.split(PART_ENDS, MAX_PARTS);
  return { whole: foldName(cell), parts: parts.length > 1 ? parts.map(foldName) : [] };
};

/**
 * The surest rank of a header cell, or null. `USt-IdNr. (Kunde)*` and `VAT number / N° TVA` are looked up by their parts
 * too, but only as sure names: a part is found by chance more easily.
 */
const rankOf = (ranks: Ranks, { whole, parts }: FoldedName): number | null =>
  ranks.get(whole) ?? (parts.some((part) => ranks.get(part) === 0) ? 0 : null);

/**
 * A results file that is uploaded again ends with our own columns: their `vat_number` is what we made of the number beside
 * it, so it does not compete with that.
 */
const ownColumn = (header: readonly string[]): number => {
  const start = header.length - RESULT_COLUMNS.length;
  return start > 0 && RESULT_COLUMNS.every((name, index) => header[start + index] === name) ? start : -1;
};

/**
 * What the cells of a row name, if it is a header row. More than one column of a meaning is the caller's to refuse, except
 * for the least sure references (`id` beside `Kundennummer`), of which the first is taken.
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
    return meaning === 'reference' && best === LEAST_SURE_REFERENCE ? columns.slice(0, 1) : columns;
  };
  const take = (columns: number[]): number[] => {
    for (const column of columns) taken.add(column);
    return columns;
  };
  // First, since "Requester (VAT number)" names the number by one of its parts.
  const requester = take(named('requester'));
  const theirs = named('candidate', ownColumn(header));
  const candidate = take(theirs.length > 0 ? theirs : named('candidate'));
  return { candidate, country: take(named('country')), reference: named('reference'), requester };
};
