import { createContext, useContext } from 'react';
import { readRefusal } from './errors.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | null | undefined>;

/** What a call carries. `body` is JSON unless it is a form. */
type CallOptions = { query?: Query; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> };

/** The dashboard's API as pages see it. Paths are below /app/api. */
export type Api = {
  /** Throws {@link ApiError} for whatever is no 2xx, and fetch's TypeError when nothing answered. */
  send: (method: Method, path: string, options?: CallOptions) => Promise<Response>;
  /** The same, read as JSON; null for an answer without a body. */
  call: <T>(method: Method, path: string, options?: CallOptions) => Promise<T>;
};

type ApiDeps = {
  /** The CSRF token of the session; null without one. */
  csrfToken: () => string | null;
  /** Told when the service no longer knows the session. */
  onSignedOut: () => void;
};

/** The address of a call: empty filters are left out. */
export const addressOf = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/app/api${path}${text && `?${text}`}`;
};

/** Opens the API. Everything that changes something carries the CSRF token. */
export const createApi = ({ csrfToken, onSignedOut }: ApiDeps): Api => {
  const send: Api['send'] = async (method, path, { query, body, signal, headers = {} } = {}) => {
    const isForm = body instanceof FormData;
    const token = method === 'GET' ? null : csrfToken();
    const response = await fetch(addressOf(path, query), {
      method,
      headers: {
        Accept: 'application/json',
        ...(token === null ? {} : { 'X-CSRF-Token': token }),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      // What was asked to go has to go, even when the page is closed right after.
      ...(method === 'DELETE' ? { keepalive: true } : {}),
    });
    if (response.ok) return response;
    // Signing in with a wrong password is 401 too, and ends nothing.
    if (response.status === 401 && !(method === 'POST' && path === '/session')) onSignedOut();
    throw await readRefusal(response);
  };
  return {
    send,
    call: async <T>(method: Method, path: string, options?: CallOptions) => {
      const text = await (await send(method, path, options)).text();
      return (text === '' ? null : JSON.parse(text)) as T;
    },
  };
};

/** Carries the API to the pages; `main.tsx` opens it. */
export const ApiContext = createContext<Api | null>(null);

/** The API inside a page. */
export const useApi = (): Api => {
  const api = useContext(ApiContext);
  if (!api) throw new Error('a page stands outside the API context');
  return api;
};
