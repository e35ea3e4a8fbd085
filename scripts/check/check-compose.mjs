// @ts-check

/** What only `npm start` reads: it runs embedded servers and processes by itself, and compose has its own ways for both. */
const OF_THE_STACK = ['DATA_DIR', 'WORKERS'];

/** The settings of other people's images. */
const FOREIGN = /^(POSTGRES_\w+|REDISCLI_AUTH)$/;

/** A variable that holds a secret. */
const SECRET = /(?:PASSWORD|SECRET_KEY)$/;

/** Addresses that a port may be published on unless the operator says otherwise. */
const LOOPBACK = /^(?:\$\{BIND_ADDRESS:-127\.0\.0\.1\}|127\.0\.0\.1):/;

/** @param {string} text without comments */
const validateSettings = (text, /** @type {readonly string[]} */ settings) => {
  const given = new Set([...text.matchAll(/^ +([A-Z][A-Z0-9_]*):/gm)].map(([, name]) => String(name)));
  return [
    ...settings
      .filter((name) => !given.has(name) && !OF_THE_STACK.includes(name))
      .map((name) => `docker-compose.yml does not hand on ${name}`),
    ...[...given]
      .filter((name) => !settings.includes(name) && !FOREIGN.test(name))
      .map((name) => `docker-compose.yml hands on ${name}, which is no setting`),
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
  // Written out: a password with a value of its own, in a setting or in an address.
  const written = [
    ...[...text.matchAll(/^ +(\w*(?:PASSWORD|SECRET_KEY)): *(?!\$\{)\S/gm)].map(([, name]) => String(name)),
    ...[...text.matchAll(/(\w+:\/\/[^\s:/@]*:)(?!\$\{)[^\s/@]+@/g)].map(([, address]) => String(address)),
  ];
  return [
    ...[...new Set(optional)].map((name) => `docker-compose.yml works without ${name}: write \${${name}:?…}`),
    ...asArgument.map(
      (name) => `docker-compose.yml puts ${name} among a command's arguments, which every user can read`,
    ),
    ...written.map((name) => `docker-compose.yml holds a password in the clear (${name})`),
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
 * What is wrong with docker-compose.yml: a setting that it drops without a word, a name that is no setting (any more), a secret
 * that has a default or can be read by others, and a port that is published on every interface. One line each.
 *
 * @param {string} text docker-compose.yml
 * @param {readonly string[]} settings names of all settings
 * @returns {string[]}
 */
export const checkCompose = (text, settings) => {
  const content = text.replace(/^ *#.*\n/gm, '');
  return [...validateSettings(content, settings), ...validateSecrets(content), ...validatePorts(content)];
};
