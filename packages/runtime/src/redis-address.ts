/** A host name or IP address and a port. */
type RedisNode = { host: string; port: number };

type Login = { username?: string; password?: string };

/** What a REDIS_URL names. `tls`: every connection is encrypted, also those to Sentinels. */
export type RedisAddress =
  | { kind: 'single'; url: string; tls: boolean }
  | {
      kind: 'sentinel';
      nodes: RedisNode[];
      master: string;
      db: number;
      tls: boolean;
      login: Login;
      sentinelLogin: Login;
    }
  | { kind: 'cluster'; nodes: RedisNode[]; tls: boolean; login: Login };

const FORMS = {
  single: 'redis://user:password@host:6379/0, or rediss:// for TLS',
  sentinel: 'redis-sentinel://user:password@host1:26379,host2:26379/MASTER/DB',
  cluster: 'redis-cluster://user:password@host1:6379,host2:6379',
} as const;

/** Never contains the value, which may hold a password. */
const refuse = (problem: string, form: string): never => {
  throw new Error(`${problem}; write ${form}`);
};

const decode = (text: string, form: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('a % that is not part of an encoded character must be written as %25', form);
  }
};

const loginOf = (username: string | undefined, password: string | undefined): Login => ({
  ...(username ? { username } : {}),
  ...(password ? { password } : {}),
});

const readLogin = (text: string | undefined, form: string): Login => {
  const [, username, password] = /^([^:]*)(?::(.*))?$/s.exec(text ?? '') ?? [];
  return loginOf(decode(username ?? '', form), decode(password ?? '', form));
};

const readNode = (text: string, defaultPort: number, form: string): RedisNode => {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = bracketed ?? plain ?? refuse('its hosts cannot be read', form);
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) refuse('a port is not between 1 and 65535', form);
  return { host, port: number };
};

const readDatabase = (text: string | undefined, form: string): number => {
  if (text === undefined || text === '') return 0;
  return /^\d{1,5}$/.test(text) ? Number(text) : refuse('its database is not a number', form);
};

const readSingle = (url: string, tls: boolean): RedisAddress => {
  const form = FORMS.single;
  if (!URL.canParse(url)) refuse('it cannot be read as one host', form);
  const { hostname, pathname, username, password } = new URL(url);
  // The client decodes them, and its error would name no setting.
  for (const text of [username, password]) decode(text, form);
  if (hostname === '') refuse('it has no host', form);
  readDatabase(pathname.slice(1), form);
  return { kind: 'single', url, tls };
};

/** The login at the Sentinels themselves; often they have none, or their own. */
const readSentinelLogin = (query: string | undefined): Login => {
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].filter((name) => !['sentinel_user', 'sentinel_password'].includes(name));
  if (unknown.length > 0)
    refuse('its only parameters are sentinel_user and sentinel_password', `${FORMS.sentinel}?sentinel_password=…`);
  return loginOf(parameters.get('sentinel_user') ?? '', parameters.get('sentinel_password') ?? '');
};

const readNodes = (text: string | undefined, defaultPort: number, form: string): RedisNode[] =>
  (text ?? '').split(',').map((node) => readNode(node.trim(), defaultPort, form));

/**
 * Reads a REDIS_URL: `redis://`, `redis-sentinel://` or `redis-cluster://`, and `rediss…` for the same with TLS. Characters
 * of a login that have a meaning in a URL are percent-encoded. Throws an Error that names the expected form.
 */
export const readRedisAddress = (url: string): RedisAddress => {
  const [, secure, kind] = /^redis(s?)(?:-(sentinel|cluster))?:\/\//i.exec(url) ?? refuseScheme();
  const tls = secure !== '';
  if (kind === undefined) return readSingle(url, tls);
  const [, login, hosts, path, query] = /^[^/]*\/\/(?:([^/]*)@)?([^/?@]*)(\/[^?]*)?(?:\?(.*))?$/s.exec(url) ?? [];
  if (kind.toLowerCase() === 'sentinel') {
    const form = FORMS.sentinel;
    const [, master = '', db, ...more] = (path ?? '').split('/');
    if (master === '' || more.length > 0) refuse('it does not name a master', form);
    return {
      ...{ kind: 'sentinel', tls, login: readLogin(login, form), sentinelLogin: readSentinelLogin(query) },
      ...{ nodes: readNodes(hosts, 26_379, form), master: decode(master, form), db: readDatabase(db, form) },
    };
  }
  const form = FORMS.cluster;
  if (!['', '/', '/0'].includes(path ?? '') || query !== undefined) refuse('a cluster has only database 0', form);
  return { kind: 'cluster', tls, login: readLogin(login, form), nodes: readNodes(hosts, 6_379, form) };
};

const refuseScheme = (): never => refuse('its form is not known', Object.values(FORMS).join(', '));

/** Host, port and path of a REDIS_URL for messages, without its login. */
export const describeRedisAddress = (url: string): string =>
  url.replace(/^[^/]*\/\/(?:[^/]*@)?/, '').replace(/\?.*$/s, '');
