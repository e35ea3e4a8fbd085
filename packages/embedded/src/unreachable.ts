// Never the whole address: it holds the password.
const place = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

/** An Error that says which server (`what`, and the place in `url`) does not answer, and why. */
export const unreachable = (what: string, url: string, cause: unknown): Error => {
  const { code, message, errors } = cause as NodeJS.ErrnoException & { errors?: Error[] };
  // A name with several addresses fails with an AggregateError whose own message is empty.
  const reason = message || errors?.[0]?.message || code || 'unknown error';
  return new Error(`${what} (${place(url)}) does not answer: ${reason}`, { cause });
};
