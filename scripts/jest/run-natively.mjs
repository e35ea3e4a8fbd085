// @ts-check
import { createRequire, register } from 'node:module';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

/** @typedef {import('@jest/environment').JestEnvironment} Environment */
/** @typedef {import('@jest/types').Config.ProjectConfig} ProjectConfig */

register('./load-typescript.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
const require = createRequire(import.meta.url);
const { default: runCircus } = require(/** @type {string} */ ('jest-circus/runner'));

/** Where jest-circus looks for the handlers of its events and for the time limit of tests. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** What jest-circus uses of jest's module system, by that of Node. */
const runtime = {
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (/** @type {string} */ file) => import(pathToFileURL(file).href),
  requireModule: require,
  /** @param {string} file the part of jest-circus that knows the tests of a file, so each file gets its own */
  requireInternalModule: (file) => {
    delete require.cache[file];
    return require(file);
  },
  setGlobalsForRuntime: () => undefined,
  enterTestCode: () => undefined,
  leaveTestCode: () => undefined,
};

/**
 * Runs a test file with the modules and globals of Node. By default jest gives each file its own: then several hundred modules are
 * loaded for every file, and code that uses globals is slow. Here the files that a worker of jest runs share the modules of
 * packages, which have no state; `leak-environment.mjs` fails a file that leaves the process changed.
 *
 * @param {unknown} globalConfig @param {ProjectConfig} config @param {Environment} environment
 * @param {unknown} _runtime jest's module system, unused @param {string} testPath @param {unknown} sendMessageToJest
 */
export default async function runNatively(globalConfig, config, environment, _runtime, testPath, sendMessageToJest) {
  const { console } = globalThis;
  Reflect.deleteProperty(globalThis, EVENT_HANDLERS);
  // Node maps stacks to the sources; jest's mapping does not know these files.
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  Object.assign(globalThis, config.globals, {
    // Jest collects what a file prints.
    console: environment.global.console,
    jest: { setTimeout: (/** @type {number} */ ms) => Object.assign(globalThis, { [TEST_TIMEOUT]: ms }) },
  });
  const handleTestEvent = environment.handleTestEvent?.bind(environment);
  try {
    const native = { global: globalThis, ...(handleTestEvent && { handleTestEvent }) };
    return await runCircus(globalConfig, config, native, runtime, testPath, sendMessageToJest);
  } finally {
    Object.assign(globalThis, { console });
    Reflect.deleteProperty(globalThis, TEST_TIMEOUT);
  }
}
