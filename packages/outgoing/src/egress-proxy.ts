import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { RequestFunction } from 'got';
import { HttpsProxyAgent } from 'hpagent';

/** How calls reach their servers: the agents, and for a proxy the function that makes a request. */
type Route = { agent: { http: HttpAgent; https: HttpsAgent }; request?: RequestFunction };

const basic = ({ username, password }: URL): string | undefined =>
  username === '' && password === '' ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;

/** The host of an address for a connection: an IPv6 address without its brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** A request to the proxy, with the whole address of the server in its first line (RFC 9112 §3.2.2). */
const requestThrough =
  (proxy: URL): RequestFunction =>
  (url, options, callback) => {
    if (url.protocol === 'https:') return httpsRequest(url, options, callback);
    const target = new URL(url);
    const credentials = basic(proxy);
    const headers = {
      ...options.headers,
      host: url.host,
      ...(credentials ? { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` } : {}),
    };
    const auth = basic(target);
    target.username = '';
    target.password = '';
    return httpRequest(
      {
        ...options,
        ...{ protocol: 'http:', hostname: hostOf(proxy), port: proxy.port || 80, path: target.href, headers },
        ...(auth ? { auth } : {}),
      },
      callback,
    );
  };

/**
 * Connections without a proxy, or all through one: `https` in a tunnel (CONNECT), plain `http` as requests to the proxy,
 * because proxies commonly permit tunnels to port 443 only. The proxy resolves the names. `proxyUrl`: an http URL; its user
 * info is sent to the proxy alone.
 */
export const routeOf = (options: AgentOptions, proxyUrl: string | undefined): Route => {
  const http = new HttpAgent(options);
  if (proxyUrl === undefined) return { agent: { http, https: new HttpsAgent(options) } };
  const proxy = new URL(proxyUrl);
  // The agent connects to the `hostname` of what it is given.
  const { protocol, port, username, password } = proxy;
  const target = { protocol, port, username, password, hostname: hostOf(proxy) } as URL;
  return {
    agent: { http, https: new HttpsProxyAgent({ ...options, proxy: target }) },
    request: requestThrough(proxy),
  };
};
