// @ts-check
import { Socket } from 'node:net';
import { TestEnvironment } from 'jest-environment-node';

const DEFAULT_PATIENCE_MS = 3000;
const POLL_INTERVAL_MS = 20;

/**
 * Jest's Node environment that also fails a test file that leaves a server, a socket, a timer or a child process open. Jest
 * itself only warns and kills the worker; in production such a leak is a process that does not stop. Resources that close
 * within `patienceMs` are not reported. A file also fails that changes variables of the environment, the working directory or
 * globals, because the next file runs in the same process.
 */
export default class LeakEnvironment extends TestEnvironment {
  /** @type {Map<string, number>} */
  #before = new Map();
  /** @type {Map<string, unknown>} */
  #process = new Map();
  /** @type {string} */
  #file;
  /** @type {number} */
  #patienceMs;

  #failed = false;

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
    // Node opens these on first use and counts them as open afterwards. Opened here, they are not counted as leaks.
    void [process.stdin, process.stdout, process.stderr];
    this.#before = countOpen();
    this.#process = describeProcess();
  }

  /**
   * Whether a test or a hook failed. What it left open is then a consequence, and an error of the environment would hide it.
   * @param {{ name: string }} event
   */
  handleTestEvent({ name }) {
    // The functions for tests are globals by now, and the file is not loaded yet.
    if (name === 'setup') this.#process = describeProcess();
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
  }

  /** @override */
  async teardown() {
    const deadline = Date.now() + this.#patienceMs;
    while (openSince(this.#before).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS).unref());
    }
    const left = openSince(this.#before);
    const changed = changedSince(this.#process);
    await super.teardown();
    if (this.#failed || (left.length === 0 && changed.length === 0)) return;
    const error = new Error(
      left.length > 0
        ? `${this.#file} left open: ${left.join(', ')}. Close it in afterEach or afterAll.${describeSockets()}`
        : `${this.#file} changed and did not restore: ${changed.join(', ')}.`,
    );
    // The stack of this error would not show the origin of the leak.
    throw Object.assign(error, { stack: error.message });
  }
}

/** @param {string} name @returns {unknown} */
const globalOf = (name) => Object.getOwnPropertyDescriptor(globalThis, name)?.value;
/** The globals of JavaScript and of Node, but for those that are loaded at their first use. The console is replaced for each file. */
const GLOBALS = Object.getOwnPropertyNames(globalThis).filter((name) => globalOf(name) && name !== 'console');

/** @type {WeakMap<Socket, Error>} */
const openedBy = new WeakMap();
const { connect } = Socket.prototype;
// Node does not record where a socket was opened. The stack is formatted only when it is read.
Socket.prototype.connect = function (/** @type {unknown[]} */ ...args) {
  openedBy.set(this, new Error('opened'));
  return Reflect.apply(connect, this, args);
};

/** The TCP connections that are open, with their state and where they were opened. */
const describeSockets = () => {
  const handles = /** @type {{ _getActiveHandles: () => unknown[] }} */ (
    /** @type {unknown} */ (process)
  )._getActiveHandles();
  return handles
    .filter((handle) => handle instanceof Socket && !('fd' in handle && typeof handle.fd === 'number'))
    .map((handle) => {
      const socket = /** @type {Socket} */ (handle);
      const { localPort, remoteAddress, remotePort, readyState, destroyed, bytesRead, bytesWritten } = socket;
      return `\n${JSON.stringify({ localPort, remoteAddress, remotePort, readyState, destroyed, bytesRead, bytesWritten })}\n${openedBy.get(socket)?.stack?.split('\n').slice(2, 12).join('\n') ?? 'accepted'}`;
    })
    .join('');
};

/** The number of open resources of each kind that keep this process alive. */
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

/**
 * What files of one process share and must not change: name and value. Packages add globals of their own when they are loaded.
 * @returns {Map<string, unknown>}
 */
const describeProcess = () =>
  new Map([
    ...Object.entries(process.env).map(([name, value]) => /** @type {const} */ ([`process.env.${name}`, value])),
    ...GLOBALS.map((name) => /** @type {const} */ ([`globalThis.${name}`, globalOf(name)])),
    ['process.cwd()', process.cwd()],
  ]);

/** @param {Map<string, unknown>} before @returns {string[]} */
const changedSince = (before) => {
  const now = describeProcess();
  return [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.has(name) !== now.has(name) || before.get(name) !== now.get(name),
  );
};
