/**
 * The name of a results file for programs that know no other letters: `Übersicht-results.csv` becomes
 * `Ubersicht-results.csv`, what has no such form becomes `_`, and where no letter or digit is left it is `results.csv`.
 */
export const asciiFileName = (name: string): string => {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, '_');
  return /[A-Za-z0-9]/.test(ascii.replace(/-results\.csv$/, '')) ? ascii : 'results.csv';
};
