/** The password of an `Authorization: Basic` header, whatever the user name; null when there is none. Source: RFC 7617. */
export const readBasicPassword = (header: string | undefined): string | null => {
  const encoded = /^basic +([a-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : text.slice(colon + 1);
};
