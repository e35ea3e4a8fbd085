/** BASE_URL without a final slash, or what HOST and PORT amount to for a caller on this machine. */
export const deriveBaseUrl = ({
  BASE_URL,
  HOST,
  PORT,
}: {
  BASE_URL?: string | undefined;
  HOST: string;
  PORT: number;
}): string => {
  if (BASE_URL !== undefined) return BASE_URL.replace(/\/+$/, '');
  // "Every address" is one to listen on, not one to call.
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
};
