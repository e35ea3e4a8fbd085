// @ts-check
import { TestEnvironment } from 'jest-environment-node';

const DEFAULT_PATIENCE_MS = 3000;
const POLL_INTERVAL_MS = 20;

/**
 * Jest's Node environment, which also fails a test file that leaves something open: a server, a socket, a timer, a
 * child process. Jest itself only warns, and kills the worker; the leak then shows up in production as a process that
 * does not stop. What closes by itself within {@link PATIENCE_MS} is no leak.
 */
export default class LeakEnvironment extends TestEnvironment {
  /** @type {Map<string, number>} */
  #before = new Map();
  /** @type {string} */
  #file;
  /** @type {number} */
  #patienceMs;

  /** @param {ConstructorParameters<typeof TestEnvironment>} args */
  constructor(...args) {
    super(...args);
    const { patienceMs = DEFAULT_PATIENCE_MS } = args[0].projectConfig.testEnvironmentOptions;
    this.#patienceMs = Number(patienceMs);
    this.#file = args[1].testPath;
  }

  /** @override */
  async setup() {
    await super.setup();
    // Node opens these on first use and counts them as open from then on; opened now they are no test's leak.
    void [process.stdin, process.stdout, process.stderr];
    this.#before = countOpen();
  }

  /** @override */
  async teardown() {
    const deadline = Date.now() + this.#patienceMs;
    while (openSince(this.#before).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS).unref());
    }
    const left = openSince(this.#before);
    await super.teardown();
    if (left.length === 0) return;
    const error = new Error(`${this.#file} left open: ${left.join(', ')}. Close it in afterEach or afterAll.`);
    // The place of this check says nothing about the place of the leak.
    throw Object.assign(error, { stack: error.message });
  }
}

/** How many of each kind of resource keep this process alive. */
const countOpen = () => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

/** @param {Map<string, number>} before @returns {string[]} e.g. `['1 × TCPServerWrap']` */
const openSince = (before) =>
  [...countOpen()]
    .map(([kind, count]) => ({ kind, more: count - (before.get(kind) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} × ${kind}`);
