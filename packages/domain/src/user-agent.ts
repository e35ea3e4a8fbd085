/**
 * The User-Agent of every outgoing call, so that an operator of an upstream can tell whose calls they are and, where
 * CONTACT_URL is set, whom to write to. The URL is written in ASCII: a header carries nothing else.
 */
export const userAgentOf = (contactUrl?: string): string =>
  contactUrl === undefined ? 'vat-validation-service' : `vat-validation-service (+${new URL(contactUrl).href})`;
