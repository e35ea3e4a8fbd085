/** What fields are called on the pages, by their names in the API; the longer names first. */
const LABELS: readonly (readonly [name: string, label: string])[] = [
  ['requester_vat_number', 'Requester'],
  ['vat_number', 'VAT number'],
  ['country_code', '“Country”'],
  ['current_password', 'Current password'],
  ['new_password', 'New password'],
  ['trader.name', 'Trader name'],
  ['trader.street', 'Street'],
  ['trader.postal_code', 'Postal code'],
  ['trader.city', 'City'],
  ['trader.company_type', 'Company type'],
];

/** A sentence that the service says to callers of the API, in the words of the pages. */
export const inPageWords = (sentence: string): string => {
  const text = sentence
    .replace('send country_code', 'choose it under “Country”')
    .replace('leave out country_code', 'choose no country')
    .replace(/\bsend (?=(?:a|the) number\b)/, 'enter ');
  const named = LABELS.reduce((words, [name, label]) => words.replaceAll(name, label), text);
  return named.charAt(0).toUpperCase() + named.slice(1);
};
