import { ConfigurationError } from './errors.js';

/** Where the service is, and the key of the account. */
export type Connection = {
  /** `vat_live_…` or `vat_test_…`. */
  apiKey: string;
  /** Such as `https://vat.example.com`. */
  baseUrl: string;
};

/** Removes the slash at the end, and `/v1`. Throws {@link ConfigurationError}. */
const readAddress = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw new ConfigurationError(
      `${JSON.stringify(text)} is not the address of a service. Write it like https://vat.example.com.`,
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
};

/** Validates a connection. Throws {@link ConfigurationError}, whose message does not contain the key. */
export const readConnection = ({ apiKey, baseUrl }: Connection): Connection => {
  const key = apiKey.trim();
  if (!/^vat_(live|test)_[0-9A-Za-z]+$/.test(key))
    throw new ConfigurationError('The API key does not begin with vat_live_ or vat_test_. Copy it from the dashboard.');
  return { apiKey: key, baseUrl: readAddress(baseUrl.trim()) };
};

/**
 * The connection that VAT_API_KEY and VAT_API_URL name: `createClient(connectionFrom(process.env))`. What `given` contains
 * takes precedence. Throws {@link ConfigurationError}.
 */
export const connectionFrom = (
  env: Readonly<Record<string, string | undefined>>,
  given: { [Name in keyof Connection]?: string | undefined } = {},
): Connection => {
  const apiKey = given.apiKey || env.VAT_API_KEY;
  const baseUrl = given.baseUrl || env.VAT_API_URL;
  if (!baseUrl)
    throw new ConfigurationError('Set VAT_API_URL to the address of the service, such as https://vat.example.com.');
  if (!apiKey) throw new ConfigurationError('Set VAT_API_KEY to a key of your account, vat_live_… or vat_test_….');
  return readConnection({ apiKey, baseUrl });
};
