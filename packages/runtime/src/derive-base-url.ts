type Address = { BASE_URL?: string | undefined; HOST: string; PORT: number };

/** BASE_URL without a trailing slash; without BASE_URL, the address at which callers on this machine reach HOST and PORT. */
export const deriveBaseUrl = ({ BASE_URL, HOST, PORT }: Address): string => {
  if (BASE_URL !== undefined) return BASE_URL.replace(/\/+$/, '');
  // A wildcard address can be listened on but not called.
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
};
