// @ts-check
import { Socket } from 'node:net';
import { TestEnvironment } from 'jest-environment-node';

const DEFAULT_PATIENCE_MS = 3000;
const POLL_INTERVAL_MS = 20;

/**
 * Jest's Node environment that also fails a test file that leaves a server, a socket, a timer or a child process open. Jest
 * itself only warns and kills the worker; in production such a leak is a process that does not stop. Resources that close
 * within `patienceMs` are not reported.
 */
export default class LeakEnvironment extends TestEnvironment {
  /** @type {Map<string, number>} */
  #before = new Map();
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
  }

  /**
   * Whether a test or a hook failed. What it left open is then a consequence, and an error of the environment would hide it.
   * @param {{ name: string }} event
   */
  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
  }

  /** @override */
  async teardown() {
    const deadline = Date.now() + this.#patienceMs;
    while (openSince(this.#before).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS).unref());
    }
    const left = openSince(this.#before);
    await super.teardown();
    if (left.length === 0 || this.#failed) return;
    const error = new Error(
      `${this.#file} left open: ${left.join(', ')}. Close it in afterEach or afterAll.${describeSockets()}`,
    );
    // The stack of this error would not show the origin of the leak.
    throw Object.assign(error, { stack: error.message });
  }
}

/** @type {WeakMap<Socket, string>} */
const openedBy = new WeakMap();
const { connect } = Socket.prototype;
// Node does not tell who opened a socket. A stack for each connection of a test file costs microseconds.
Socket.prototype.connect = function (/** @type {unknown[]} */ ...args) {
  openedBy.set(this, new Error('opened').stack?.split('\n').slice(2, 12).join('\n') ?? '');
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
      return `\n${JSON.stringify({ localPort, remoteAddress, remotePort, readyState, destroyed, bytesRead, bytesWritten })}\n${openedBy.get(socket) ?? 'accepted'}`;
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
