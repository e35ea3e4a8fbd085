const MOST = 200;

/** The front of a text that a file decides the length of: a cell may be two million characters long. */
export const shorten = (text: string): string =>
  text.length <= MOST ? text : `${text.slice(0, MOST).toWellFormed()}…`;
