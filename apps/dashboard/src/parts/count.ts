/** A whole number as the reader writes it. */
export const count = (value: number): string => new Intl.NumberFormat().format(value);
