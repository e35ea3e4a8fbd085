import canonicalize from 'canonicalize';

/** The RFC 8785 (JCS) form of any JSON value: equal values give equal texts. */
export const canonicalText = (value: unknown): string => canonicalize(value) ?? 'null';
