/** The calendar day (YYYY-MM-DD) that `at` falls on in an IANA time zone; registers ask for their own day, not UTC's. */
export const localDate = (at: Date, timeZone: string): string => {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const of = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${of.year}-${of.month}-${of.day}`;
};
