import type { Unsuitable } from './form.js';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** A number of bytes in the unit a person would choose. */
export const byteCount = (bytes: number): string => {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log(bytes) / Math.log(1_000)));
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(bytes / 1_000 ** power);
};

/** A whole number as the reader writes it. */
export const count = (value: number): string => new Intl.NumberFormat().format(value);

/** The name of a member state in the reader's language. VIES's codes are those of ISO but for Greece and Northern Ireland. */
export const countryName = (code: string): string => {
  if (code === 'XI') return 'Northern Ireland';
  return new Intl.DisplayNames(undefined, { type: 'region' }).of(code === 'EL' ? 'GR' : code) ?? code;
};

/** Milliseconds as a person reads them: 38 ms, 1.2 s, 3 min, 2 h 5 min. */
export const duration = (ms: number): string => {
  const number = (value: number, digits: number) =>
    new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }).format(value);
  if (ms < 1_000) return `${number(ms, 0)} ms`;
  if (ms < 10_000) return `${number(ms / 1_000, 1)} s`;
  if (ms < 120_000) return `${number(ms / 1_000, 0)} s`;
  if (ms < 3_600_000) return `${number(ms / 60_000, 0)} min`;
  const minutes = Math.round(ms / 60_000);
  return `${number(Math.floor(minutes / 60), 0)} h ${minutes % 60} min`;
};

const MOST = 200;

/** The front of a text that a file decides the length of: a cell may be two million characters long. */
export const shorten = (text: string): string =>
  text.length <= MOST ? text : `${text.slice(0, MOST).toWellFormed()}…`;

/** What is wrong with a form's period, by its inputs `from` and `to`; `to` is the first day that is left out. Null for what holds a day. */
export const validatePeriod = (form: HTMLFormElement): Unsuitable => {
  const [from, to] = (['from', 'to'] as const).map((name) => form.querySelector<HTMLInputElement>(`[name=${name}]`));
  if (!from?.value || !to?.value || from.value < to.value) return null;
  return { id: to.id, text: 'Before is the first day that is left out: choose one later than From.' };
};

/** Hands a file to the browser's downloads. */
export const saveFile = (file: Blob, name: string): void => {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has its own hold on it once it has begun.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
