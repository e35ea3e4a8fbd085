// @ts-check

/** What only `npm start` reads: it runs embedded servers and processes by itself, and compose has its own ways for both. */
const OF_THE_STACK = ['DATA_DIR', 'WORKERS'];

/** The settings of other people's images. */
const FOREIGN = /^POSTGRES_/;

/**
 * What is wrong with the environment that docker-compose.yml gives its services: a setting that it drops without a word, or a
 * name that is no setting (any more). One line each.
 *
 * @param {string} text docker-compose.yml
 * @param {readonly string[]} settings names of all settings
 * @returns {string[]}
 */
export const judgeCompose = (text, settings) => {
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
