const RUNS = /^[\s\p{Cf}]*[=+\-@\t\r\n]/u;
const NEEDS_QUOTES = /[",\r\n]/;

const cell = (value: string): string => {
  // A spreadsheet would run it, also after blanks and marks that nobody sees.
  const safe = RUNS.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** One row of RFC 4180, line end included; cells that a spreadsheet would take for a formula begin with `'`. */
export const csvRow = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`;
