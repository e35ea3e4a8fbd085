// @ts-check

/** Settings that only `npm start` reads, for its embedded servers and processes; compose configures both itself. */
const OF_THE_STACK = ['DATA_DIR', 'WORKERS'];

/** The settings of third-party images. */
const FOREIGN = /^(POSTGRES_\w+|REDISCLI_AUTH)$/;

/** A variable that holds a secret. */
const SECRET = /(?:PASSWORD|SECRET_KEY)$/;

/** Default addresses on which a port may be published. */
const LOOPBACK = /^(?:\$\{BIND_ADDRESS:-127\.0\.0\.1\}|127\.0\.0\.1):/;

/** @param {string} text without comments */
const validateSettings = (text, /** @type {readonly string[]} */ settings) => {
  const given = new Set([...text.matchAll(/^ +([A-Z][A-Z0-9_]*):/gm)].map(([, name]) => String(name)));
  return [
    ...settings
      .filter((name) => !given.has(name) && !OF_THE_STACK.includes(name))
      .map((name) => `docker-compose.yml does not pass on ${name}`),
    ...[...given]
      .filter((name) => !settings.includes(name) && !FOREIGN.test(name))
      .map((name) => `docker-compose.yml passes on ${name}, which is not a setting`),
  ];
};

/** @param {string} text without comments */
const validateSecrets = (text) => {
  const uses = [...text.matchAll(/\$\{([A-Z0-9_]+)([^}]*)\}/g)].map(([, name, rest]) => ({
    name: String(name),
    required: String(rest).startsWith(':?'),
  }));
  const optional = uses.filter(({ name, required }) => SECRET.test(name) && !required).map(({ name }) => name);
  const asArgument = [...text.matchAll(/^ *(?:command|entrypoint|test):.*\$\{([A-Z0-9_]+)/gm)]
    .map(([, name]) => String(name))
    .filter((name) => SECRET.test(name));
  // A literal password, in a setting or in an address.
  const literals = [
    ...[...text.matchAll(/^ +(\w*(?:PASSWORD|SECRET_KEY)): *(?!\$\{)\S/gm)].map(([, name]) => String(name)),
    ...[...text.matchAll(/(\w+:\/\/[^\s:/@]*:)(?!\$\{)[^\s/@]+@/g)].map(([, address]) => String(address)),
  ];
  return [
    ...[...new Set(optional)].map((name) => `docker-compose.yml does not require ${name}: write \${${name}:?…}`),
    ...asArgument.map((name) => `docker-compose.yml passes ${name} as a command argument, which every user can read`),
    ...literals.map((name) => `docker-compose.yml contains a plain-text password (${name})`),
  ];
};

/** @param {string} text without comments */
const validatePorts = (text) =>
  [...text.matchAll(/^( +)ports:\n((?:\1 +- .*\n?)+)/gm)]
    .flatMap(([, , list]) => String(list).trim().split('\n'))
    .map((line) => line.replace(/^ *- *"?/, '').replace(/"$/, ''))
    .filter((port) => !LOOPBACK.test(port))
    .map(
      (port) => `docker-compose.yml publishes ${port} on every interface: begin it with \${BIND_ADDRESS:-127.0.0.1}`,
    );

/**
 * The problems of docker-compose.yml, one line each: a setting that is not passed on, a name that is not a setting, a secret
 * that has a default or that others can read, and a port that is published on every interface.
 *
 * @param {string} text docker-compose.yml
 * @param {readonly string[]} settings names of all settings
 * @returns {string[]}
 */
export const checkCompose = (text, settings) => {
  const content = text.replace(/^ *#.*\n/gm, '');
  return [...validateSettings(content, settings), ...validateSecrets(content), ...validatePorts(content)];
};
