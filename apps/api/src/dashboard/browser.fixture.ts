import supertest from 'supertest';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** A client of the dashboard's API that stores its cookie and CSRF token as the pages do. Tests may change them. */
export type Browser = {
  call: (method: Method, path: string, body?: unknown) => supertest.Test;
  signIn: (email: string, password?: string) => Promise<supertest.Response>;
  /** `name=value`; empty before the first sign-in. */
  cookie: string;
  csrf: string;
};

/** The password of the accounts that tests create. */
export const PASSWORD = 'correct horse';

/** Opens a browser for an API process. Paths are relative to /app/api. */
export const openBrowser = (baseUrl: string): Browser => {
  const browser: Browser = {
    cookie: '',
    csrf: '',
    call: (method, path, body) => {
      const call = supertest(baseUrl)[method](`/app/api${path}`);
      if (browser.cookie !== '') call.set('Cookie', browser.cookie);
      if (browser.csrf !== '') call.set('X-CSRF-Token', browser.csrf);
      return body === undefined ? call : call.send(body as object);
    },
    signIn: async (email, password = PASSWORD) => {
      const answer = await browser.call('post', '/session', { email, password });
      if (answer.status === 200) {
        browser.cookie = setCookieOf(answer).split(';')[0] ?? '';
        browser.csrf = String(answer.body.csrf_token);
      }
      return answer;
    },
  };
  return browser;
};

/** Opens a browser whose user is signed in. */
export const openSignedIn = async (baseUrl: string, email: string): Promise<Browser> => {
  const browser = openBrowser(baseUrl);
  expect((await browser.signIn(email)).status).toBe(200);
  return browser;
};

/** The Set-Cookie of an answer; empty when there is none. Throws when there are several. */
export const setCookieOf = (answer: { get: (name: 'Set-Cookie') => string[] | undefined }): string => {
  const cookies = answer.get('Set-Cookie') ?? [];
  if (cookies.length > 1) throw new Error(`one cookie was expected: ${cookies.join(' and ')}`);
  return cookies[0] ?? '';
};
