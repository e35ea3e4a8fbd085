import type { Meaning } from './batch-file.js';
import { foldName, transcribeUmlauts } from './cells.js';
import { CUSTOMER_WORDS, HEADER_NAMES } from './header-names.js';
import { COVERAGE_COLUMNS, RESULT_COLUMNS } from './results-file.js';

/** For each meaning the columns with the best rank in a header row; normally one or none. */
export type NamedColumns = Record<Meaning, number[]>;

/** The rank of each folded name; 0 is the most certain. */
type Ranks = ReadonlyMap<string, number>;

/** The ranks of lists of names, the most certain list first. */
export const ranksOf = (lists: readonly (readonly string[])[]): Ranks =>
  new Map(
    lists
      .flatMap((names, rank) =>
        names.flatMap((name) => [name, transcribeUmlauts(name)].map((text) => [foldName(text), rank] as const)),
      )
      .reverse(),
  );

const RANKS: Readonly<Record<Meaning, Ranks>> = {
  candidate: ranksOf(HEADER_NAMES.candidate),
  country: ranksOf(HEADER_NAMES.country),
  reference: ranksOf(HEADER_NAMES.reference),
  requester: ranksOf(HEADER_NAMES.requester),
};

/** Longer cells are data and are not folded. */
export const MAX_NAME = 200;

/** From this rank on, references are numbers of customers and invoices, of which a file may have several. */
const LESS_CERTAIN_REFERENCE = 1;

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
const rankOf = (ranks: Ranks, { whole, parts }: FoldedName, ofPart: number): number | null =>
  ranks.get(whole) ?? (parts.some((part) => ranks.get(part) === 0) ? ofPart : null);

const CUSTOMERS: ReadonlySet<string> = new Set(CUSTOMER_WORDS.split('|').map(foldName));
/** In characters; longer than any name with a word for a customer. */
const MAX_CUSTOMER_NAME = 60;

/** The rank of a name of the number with a word for a customer behind or before it: `USt-IdNr. des Abnehmers`. */
const rankOfCustomers = ({ whole }: FoldedName): number | null => {
  if (whole.length > MAX_CUSTOMER_NAME) return null;
  for (let at = 2; at < whole.length - 1; at += 1) {
    const [front, back] = [whole.slice(0, at), whole.slice(at)];
    const name = CUSTOMERS.has(back) ? front : CUSTOMERS.has(front) ? back : null;
    const rank = name === null ? undefined : RANKS.candidate.get(name);
    if (rank !== undefined) return rank;
  }
  return null;
};

/** Whether a cell names the VAT number itself: other names are those of tax numbers and of the tax, which may head its amounts. */
export const isCertainName = (cell: string): boolean => {
  const folded = foldCell(cell);
  return folded !== null && (rankOf(RANKS.candidate, folded, 0) ?? rankOfCustomers(folded)) === 0;
};

/** The names by which a user says which column has the numbers to check; messages ask for them. */
const CHOSEN_NAMES: ReadonlySet<string> = new Set(['vat_number', 'candidate'].map(foldName));

/** Whether a column was named as messages ask for it. */
export const isChosenName = (cell: string): boolean => CHOSEN_NAMES.has(foldCell(cell)?.whole ?? '');

/** The columns with the best rank. `isTaken`: whether a column has another meaning. `ofPart`: the rank of a part. */
const bestRanked = (
  ranks: Ranks,
  folded: readonly (FoldedName | null)[],
  { isTaken, ofPart }: { isTaken: (column: number) => boolean; ofPart: number },
): { best: number; columns: number[] } => {
  const ranked = folded.flatMap((name, column) => {
    if (name === null || isTaken(column)) return [];
    const rank = rankOf(ranks, name, ofPart) ?? (ranks === RANKS.candidate ? rankOfCustomers(name) : null);
    return rank === null ? [] : [{ column, rank }];
  });
  const best = Math.min(...ranked.map(({ rank }) => rank));
  return { best, columns: ranked.filter(({ rank }) => rank === best).map(({ column }) => column) };
};

/** The columns of a header row that `ranks` names best; `Lieferdatum` is better than `Lieferdatum (geplant)`. */
export const findNamed = (ranks: Ranks, header: readonly string[], isTaken: (column: number) => boolean): number[] =>
  bestRanked(ranks, header.map(foldCell), { isTaken, ofPart: 0.5 }).columns;

/**
 * The columns that the service itself added. A results file that is uploaded again has them, once for each time, and they must
 * not compete with the columns that they were made from.
 */
export const addedColumns = (header: readonly string[]): ReadonlySet<number> => {
  const added = new Set<number>();
  for (const names of [RESULT_COLUMNS, COVERAGE_COLUMNS]) {
    for (const start of header.keys()) {
      if (start === 0 || !names.every((name, index) => header[start + index] === name)) continue;
      for (const index of names.keys()) added.add(start + index);
    }
  }
  return added;
};

/**
 * Finds the columns that a header row names. The caller must refuse several columns of one meaning. Of the less certain
 * references (`id` beside `Kundennummer`) only the first is returned.
 */
export const findColumns = (header: readonly string[]): NamedColumns => {
  const taken = new Set<number>();
  const folded = header.map(foldCell);
  const named = (meaning: Meaning, except?: ReadonlySet<number>): number[] => {
    const isTaken = (column: number) => taken.has(column) || except?.has(column) === true;
    const { best, columns } = bestRanked(RANKS[meaning], folded, { isTaken, ofPart: 0 });
    return meaning === 'reference' && best >= LESS_CERTAIN_REFERENCE ? columns.slice(0, 1) : columns;
  };
  const take = (columns: number[]): number[] => {
    for (const column of columns) taken.add(column);
    return columns;
  };
  // The requester comes first, since a part of "Requester (VAT number)" also names the number.
  const requester = take(named('requester'));
  const uploaded = named('candidate', addedColumns(header));
  // Without another name, the numbers of the latest results.
  const candidate = take(uploaded.length > 0 ? uploaded : named('candidate').slice(-1));
  return { candidate, country: take(named('country')), reference: named('reference'), requester };
};
