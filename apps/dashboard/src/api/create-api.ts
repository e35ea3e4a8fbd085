import type { ErrorCode } from '@vat/domain/errors';
import { createContext, useContext } from 'react';
import { notFromService, parseJson, readError } from './errors.js';
import type { Session } from './shapes.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | null | undefined>;

/** Options of a call. `body` is sent as JSON unless it is a form. */
type CallOptions = { query?: Query; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> };

/** Client of the dashboard API. Paths are relative to /app/api. */
export type Api = {
  /**
   * Throws {@link ApiError} for any status other than 2xx, {@link notFromService} for a page, and the TypeError of fetch when
   * the request fails. A call that finds its session ended is sent again once the user has signed in again.
   */
  send: (method: Method, path: string, options?: CallOptions) => Promise<Response>;
  /** Sends the call and parses the JSON response; null when the body is empty. */
  call: <T>(method: Method, path: string, options?: CallOptions) => Promise<T>;
};

type ApiDeps = {
  /** The session; null without one. */
  session: () => Session | null;
  /** Called when the session of a call has ended on the server. Resolves to whether its user has signed in again. */
  onSessionEnd: (session: Session) => Promise<boolean>;
  /** Called when a call is refused because of the role, plan or state of the account, which the session may have as they were. */
  onOutdatedSession: () => void;
};

/** Refusals that follow from the user's role, or from the state or plan of the account. */
const REFUSED_BY_SESSION: readonly (ErrorCode | null)[] = [
  'FORBIDDEN',
  'ACCOUNT_DISABLED',
  'FREQUENCY_NOT_ALLOWED',
  'WATCH_LIMIT',
];

/** The URL of a call. Empty query parameters are omitted. */
export const addressOf = (path: string, query: Query = {}): string => {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `/app/api${path}${text && `?${text}`}`;
};

/** Creates the API client. Every method other than GET sends the CSRF token. */
export const createApi = ({ session: currentSession, onSessionEnd, onOutdatedSession }: ApiDeps): Api => {
  const send: Api['send'] = async (method, path, options = {}) => {
    const { query, body, signal, headers = {} } = options;
    const isForm = body instanceof FormData;
    const session = currentSession();
    const response = await fetch(addressOf(path, query), {
      method,
      headers: {
        Accept: 'application/json',
        ...(session === null || method === 'GET' ? {} : { 'X-CSRF-Token': session.csrf_token }),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      // A deletion completes even when the page is closed right after it.
      ...(method === 'DELETE' ? { keepalive: true } : {}),
    });
    if (response.ok) {
      // No call is answered with a page: it would be saved in place of a file, and evidence would seem to be forged.
      if (response.headers.get('content-type')?.startsWith('text/html')) throw notFromService();
      return response;
    }
    // Signing in with a wrong password, and signing out of a session that has ended, also return 401.
    if (response.status === 401 && path !== '/session' && session && (await onSessionEnd(session))) {
      return send(method, path, options);
    }
    const error = await readError(response);
    if (REFUSED_BY_SESSION.includes(error.code)) onOutdatedSession();
    throw error;
  };
  return {
    send,
    call: async <T>(method: Method, path: string, options?: CallOptions) =>
      parseJson<T>(await send(method, path, options)),
  };
};

/** Provides the API client to the pages; set in `main.tsx`. */
export const ApiContext = createContext<Api | null>(null);

/** The API client of the current page. */
export const useApi = (): Api => {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi is used outside ApiContext');
  return api;
};
