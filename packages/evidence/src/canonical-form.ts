import canonicalize from 'canonicalize';

/** The RFC 8785 form of any JSON value as UTF-8 bytes: equal values, equal bytes, however they were written. */
export const canonicalForm = (value: unknown): Buffer => Buffer.from(canonicalize(value) ?? 'null', 'utf8');
